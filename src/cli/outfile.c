/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the trace's destination: standard error, a file, or a command.
 *
 * A command that reads the trace must not be a child of the tracer, which waits for any child and
 * would take its end for a tracee's. So the command is a child of a child that has exited. The end
 * of the command shows in a pipe whose other end only the command has (and processes that it leaves
 * in the background).
 *
 * The terminal's Ctrl-C is meant for the tracees. The command ignores it, as it has to read the
 * trace to the end.
 */
#include "cli/outfile.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/usage_error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FD_MIN = 3 };

/* Runs in the child's child. */
static _Noreturn void run_command(const char *command, int input, int done)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (dup2(input, STDIN_FILENO) == STDIN_FILENO && fcntl(done, F_SETFD, 0) == 0)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	diag("cannot run '%s': %s", command, strerror(errno));
	_exit(127);
}

static int start_command(const char *command, int input, int done)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			run_command(command, input, done);
		_exit(pid < 0 ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EAGAIN : 0;
}

/* Makes a pipe whose fds are no standard fds, also if some of these are closed. */
static int make_pipe(int ends[2])
{
	int made[2];

	if (pipe2(made, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, FD_MIN);
		close(made[i]);
	}
	return ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
}

static int open_command(struct outfile *outfile, const char *command)
{
	_cleanup_close_ int input = -1, done = -1;
	int trace[2] = {-1, -1}, end[2] = {-1, -1};
	int error = make_pipe(trace);

	if (!error)
		error = make_pipe(end);
	input = trace[0];
	outfile->fd = trace[1];
	outfile->done = end[0];
	done = end[1];
	if (!error)
		error = start_command(command, input, done);
	if (error)
		diag("cannot run '%s': %s", command, strerror(-error));
	return error;
}

static int open_file(struct outfile *outfile, const char *name)
{
	int error = 0;

	outfile->fd = name ? open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)
			   : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FD_MIN);
	if (outfile->fd < 0) {
		error = -errno;
		diag("%s: %s", name ? name : "standard error", strerror(-error));
	}
	outfile->is_kept = name && !error;
	return error;
}

/* Stores what tells which file it is. Returns false if nothing can be lost: it is none. */
static bool is_file(const struct outfile *outfile, struct stat *file)
{
	return outfile->is_kept && fstat(outfile->fd, file) == 0 && S_ISREG(file->st_mode);
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

int outfile_check(const struct vec *files, const struct outfile *lines,
		  const char *const inputs[OUTFILE_INPUTS])
{
	struct stat *known = xcalloc(OUTFILE_INPUTS + files->count + 1, sizeof *known);
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; i < OUTFILE_INPUTS; i++)
		count += inputs[i] && stat(inputs[i], &known[count]) == 0;
	const size_t read = count;

	for (size_t i = 0; i <= files->count && !error; i++) {
		const struct outfile *file = i < files->count ? vec_at(files, i) : lines;

		if (!is_file(file, &known[count]))
			continue;
		for (size_t k = 0; k < count && !error; k++)
			if (is_same(&known[k], &known[count]))
				error = usage_error(k < read ? "a trace that is read would be "
							       "written, too"
							     : "two outputs would be in one file");
		count++;
	}
	free(known);
	return error;
}

int outfile_empty(const struct vec *files, const struct outfile *lines)
{
	int error = 0;

	for (size_t i = 0; i <= files->count && !error; i++) {
		const struct outfile *file = i < files->count ? vec_at(files, i) : lines;
		struct stat status;

		if (is_file(file, &status) && ftruncate(file->fd, lseek(file->fd, 0, SEEK_CUR)) < 0)
			error = -errno;
	}
	if (error)
		diag("an output cannot be emptied: %s", strerror(-error));
	return error;
}

int outfile_open(struct outfile *outfile, const char *name)
{
	*outfile = (struct outfile){.fd = -1, .done = -1};
	int error = name && *name == '|' ? open_command(outfile, name + 1)
					 : open_file(outfile, name);

	if (error)
		outfile_close(outfile);
	return error;
}

/* Returns true if a directory has nothing in it. */
static bool is_empty(int directory)
{
	const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool empty = entries != NULL;

	if (!entries && copy >= 0)
		close(copy);
	while (empty && (entry = readdir(entries)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (entries)
		closedir(entries);
	return empty;
}

static int open_directory(const char *name, int *fd)
{
	if (mkdir(name, 0777) < 0 && errno != EEXIST)
		return -errno;
	const int low = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (low < 0)
		return -errno;
	*fd = fcntl(low, F_DUPFD_CLOEXEC, FD_MIN);
	close(low);
	if (*fd < 0)
		return -errno;
	return is_empty(*fd) ? 0 : -ENOTEMPTY;
}

int outfile_open_directory(struct outfile *outfile, const char *name)
{
	*outfile = (struct outfile){.fd = -1, .done = -1};
	const int error = open_directory(name, &outfile->fd);

	if (error) {
		diag("%s: %s", name, strerror(-error));
		outfile_close(outfile);
	}
	return error;
}

void outfile_close(struct outfile *outfile)
{
	char byte;

	if (outfile->fd >= 0)
		close(outfile->fd);
	if (outfile->done < 0)
		return;
	while (read(outfile->done, &byte, 1) < 0 && errno == EINTR)
		;
	close(outfile->done);
}
