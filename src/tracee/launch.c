/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a command under trace. The child waits on a pipe until it has been seized, then execs. So
 * the first event of the program is its PTRACE_EVENT_EXEC stop, before any of its instructions has
 * run. A second, close-on-exec pipe returns the errno of a failed exec. A `#!` script needs no
 * special case: the kernel has loaded the interpreter by then.
 */
#include "tracee/launch.h"

#include "base/cleanup.h"
#include "tracee/identity.h"
#include "tracee/interrupts.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Like execvp(3), but a file that is no program is an error, and is not passed to a shell. */
static int search_and_exec(char *const argv[])
{
	const char *path = getenv("PATH");
	int error = ENOENT;

	if (strchr(argv[0], '/')) {
		execv(argv[0], argv);
		return errno;
	}
	for (const char *end; path && argv[0][0]; path = *end ? end + 1 : NULL) {
		char file[PATH_MAX];

		end = strchrnul(path, ':');
		if (snprintf(file, sizeof file, "%.*s%s%s", (int)(end - path), path,
			     end > path ? "/" : "", argv[0]) >= (int)sizeof file)
			continue;
		execv(file, argv);
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return errno;
		if (errno == EACCES)
			error = EACCES;
	}
	return error;
}

static void run_child(char *const argv[], const struct identity *identity,
		      const struct original_signals *original, int go, int failed)
{
	char byte;

	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	original_signals_restore(original);
	int error = identity ? -identity_take(identity) : 0;

	if (!error)
		error = search_and_exec(argv);

	if (write(failed, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

/* Waits until the child has either execed or failed to. */
static int exec_result(struct thread *thread, int failed)
{
	int error = 0;
	int status;
	ssize_t n;

	/*
	 * The exec stop may come before or after the close-on-exec descriptors are closed. A failed
	 * exec writes to the pipe before the child exits. So the pipe is read only after the thread
	 * has reported.
	 */
	for (;;) {
		int waited = thread_wait(thread, &status, 60000);

		if (waited)
			return waited;
		struct stop_status stop = stop_status_decode(status);

		if (stop.kind == STOP_EXEC)
			break;
		if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED) {
			n = read(failed, &error, sizeof error);
			if (n == sizeof error)
				return -error;
			/* Killed by the kernel, which was past the point where exec can fail. */
			return stop.kind == STOP_KILLED ? -ENOEXEC : -ECHILD;
		}
		if (stop.kind == STOP_SIGNAL)
			pt_continue(thread->tid, stop.signal);
		else if (stop.kind == STOP_GROUP)
			pt_listen(thread->tid);
		else
			pt_continue(thread->tid, 0);
	}
	thread_defer(thread, status);
	thread->state = THREAD_STOPPED;
	thread->stop = STOP_EXEC;
	return 0;
}

int tracees_launch(struct tracees *tracees, char *const argv[],
		   const struct original_signals *original, struct process **process)
{
	int go[2] = {-1, -1};
	int failed[2] = {-1, -1};
	int error = 0;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		error = -errno;
		close(go[0]);
		close(go[1]);
		return error;
	}
	pid_t pid = fork();

	if (pid < 0)
		error = -errno;
	if (pid == 0) {
		close(go[1]);
		run_child(argv, tracees->launch_as, original, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	if (!error)
		error = pt_seize(pid, tracees->ptrace_options);
	if (error) {
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, __WALL);
		}
		close(go[1]);
		close(failed[0]);
		return error;
	}
	*process = process_create(tracees, pid);
	(*process)->launched = true;
	struct thread *thread = thread_create(tracees, *process, pid);

	thread->fresh = false;
	close(go[1]);
	error = exec_result(thread, failed[0]);
	close(failed[0]);
	if (error)
		thread_destroy(tracees, thread);
	return error;
}
