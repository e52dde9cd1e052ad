/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads all frame descriptions. There are some dozens, each a page long, so all are read when the
 * first is needed; which of them is a process's is found out in the process alone (vm.c).
 */
#include "unwind/script/library.h"

#include "base/cleanup.h"
#include "base/config_dirs.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 18 };

static const char suffix[] = ".frames";

struct script_library {
	struct vec directories;	 /* char *, owned; those that win first */
	struct vec files;	 /* char *, owned: their names without suffix, sorted */
	struct vec descriptions; /* struct script_description *, owned */
	frames_error *error;
	void *context;
};

/* Returns the text of a file, or NULL with errno set. */
static char *read_file(const char *path)
{
	struct stat status;
	size_t length = 0;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &status) < 0)
		return NULL;
	if (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX) {
		errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
		return NULL;
	}
	const size_t size = (size_t)status.st_size;
	_cleanup_free_ char *text = xmalloc(size + 1);

	for (;;) {
		const ssize_t got = read(fd, text + length, size - length);

		if (got < 0)
			return NULL;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	text[length] = '\0';
	return take_ptr(text);
}

static void report(const struct script_library *library, const char *path)
{
	_cleanup_free_ char *message = xasprintf("cannot be read: %s", strerror(errno));

	if (library->error)
		library->error(library->context, path, 0, message);
}

/* Reads NAME.frames from the first directory that has it. */
static char *find_file(void *context, const char *name, char **path)
{
	const struct script_library *library = context;

	for (size_t i = 0; i < library->directories.count; i++) {
		const char *directory = *(char **)vec_at(&library->directories, i);

		*path = xasprintf("%s/%s%s", directory, name, suffix);
		char *text = read_file(*path);

		if (text)
			return text;
		if (errno != ENOENT && errno != ENOTDIR)
			report(library, *path);
		free(*path);
	}
	*path = NULL;
	return NULL;
}

/* Returns false if there is no such directory, or none that may be read. */
static bool list_directory(struct script_library *library, const char *path)
{
	const struct dirent *entry;
	DIR *directory = opendir(path);

	if (!directory) {
		if (errno != ENOENT && errno != ENOTDIR)
			report(library, path);
		return false;
	}
	while ((entry = readdir(directory))) {
		const size_t length = strlen(entry->d_name);
		const size_t stem = length - (sizeof suffix - 1);

		if (length < sizeof suffix || strcmp(entry->d_name + stem, suffix) != 0 ||
		    *entry->d_name == '.')
			continue;
		char *name = xstrndup(entry->d_name, stem);

		vec_push(&library->files, &name);
	}
	closedir(directory);
	return true;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void pass_on(void *context, const char *file, unsigned line, const char *message)
{
	const struct script_library *library = context;

	if (library->error)
		library->error(library->context, file, line, message);
}

static void read_description(struct script_library *library, const char *name)
{
	const struct frames_source source = {find_file, pass_on, library};
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *text = find_file(library, name, &path);
	struct script_description *description = text ? frames_parse(path, text, &source) : NULL;

	if (description)
		vec_push(&library->descriptions, &description);
}

struct script_library *script_library_create(const char *data_dir, frames_error *error,
					     void *context)
{
	struct script_library *library = xcalloc(1, sizeof *library);
	const char *previous = "";

	vec_init(&library->directories, sizeof(char *));
	vec_init(&library->files, sizeof(char *));
	vec_init(&library->descriptions, sizeof(struct script_description *));
	library->error = error;
	library->context = context;
	config_dirs_add(&library->directories, data_dir, "/frames");
	/* A directory that cannot be read is told once, and not looked into for each file. */
	for (size_t i = 0; i < library->directories.count; i++) {
		char *path = *(char **)vec_at(&library->directories, i);

		if (list_directory(library, path))
			continue;
		free(path);
		vec_remove(&library->directories, i--);
	}
	if (library->files.count)
		qsort(library->files.items, library->files.count, sizeof(char *), compare_names);
	for (size_t i = 0; i < library->files.count; i++) {
		const char *name = *(char **)vec_at(&library->files, i);

		if (strcmp(name, previous) != 0)
			read_description(library, name);
		previous = name;
	}
	return library;
}

static void free_all(struct vec *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(*(char **)vec_at(texts, i));
	vec_deinit(texts);
}

void script_library_destroy(struct script_library *library)
{
	if (!library)
		return;
	for (size_t i = 0; i < library->descriptions.count; i++)
		script_description_destroy(
			*(struct script_description **)vec_at(&library->descriptions, i));
	vec_deinit(&library->descriptions);
	free_all(&library->directories);
	free_all(&library->files);
	free(library);
}

struct script_description *const *script_library_all(const struct script_library *library,
						     size_t *count)
{
	*count = library->descriptions.count;
	return library->descriptions.items;
}
