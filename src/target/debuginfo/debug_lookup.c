/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for the files with the debug information of a module, in the file system of its process and
 * in the tracer's own, by the rules of doc/SECURITY.md.
 */
#include "target/debuginfo/debug_lookup.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "object/elf_memory.h"
#include "tracee/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OWN_DEBUG_FILES "/usr/lib/debug/"

/* Opens a regular file of the tracer's own file system; to open other files may have effects. */
static int open_own(const char *path)
{
	struct stat status;
	char place_path[64];
	_cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);

	if (place < 0 || fstat(place, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	snprintf(place_path, sizeof place_path, "/proc/self/fd/%d", place);
	return open(place_path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* A debug_opener, whose context is a struct file_view. */
static int open_debug(void *view, const char *path)
{
	/* Files installed for this machine are also used for processes that do not see them. */
	int fd = strncmp(path, OWN_DEBUG_FILES, strlen(OWN_DEBUG_FILES)) == 0 ? open_own(path) : -1;

	return fd >= 0 ? fd : file_view_open_path(view, path);
}

/* The user who installed that file expects it to be used. */
static void say_stranger(const struct debug_files *files, const char *path)
{
	char stranger[512];
	char safe[512];

	diag("%s: it does not belong to %s (%s), so it is not used",
	     diag_safe(stranger, sizeof stranger, files->stranger),
	     diag_safe(safe, sizeof safe, path), files->why_stranger);
}

void debug_lookup(struct elf_file *file, const char *path, pid_t pid, struct debug_files *out)
{
	struct file_view view;

	file_view_init(&view, pid);
	if (!elf_is_from_memory(file))
		debug_files_find(file, path, open_debug, &view, out);
	file_view_deinit(&view);
	if (out->stranger)
		say_stranger(out, path);
}
