/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the files that a process has mapped. The names come from the process, so they are looked up
 * by the rules of doc/SECURITY.md, and the opened file is compared with the mapping.
 */
#ifndef TRACER_TRACEE_FILES_H
#define TRACER_TRACEE_FILES_H

#include "base/vec.h"
#include "tracee/maps.h"

#include <limits.h>

/* A process's view of the file system. It may change, so it is created for one use. */
struct file_view {
	pid_t pid;
	int root; /* its root directory (O_PATH); -1: not opened yet, or out of reach */
	/* Path of that directory for the tracer, "" for the tracer's own root. */
	char prefix[PATH_MAX];
	bool root_tried;
	struct vec hanging; /* dev_t: FUSE file systems, whose server may never answer */
	bool mounts_read;
};

void file_view_init(struct file_view *view, pid_t pid);
void file_view_deinit(struct file_view *view);

/*
 * Opens the file of a mapping for reading: a descriptor of a regular file, or -errno. -ENOENT: the
 * file has no name any more, or none below the root of the process; -ESTALE: another file has the
 * name now; -EREMOTE: the file system may never answer; -EACCES, -EPERM.
 */
int file_view_open(struct file_view *view, const struct mapping *mapping);

/*
 * Opens a file for reading by its path as the kernel shows it to the tracer (for a process with a
 * root directory of its own, the path includes that directory). Follows no links. Errors as
 * file_view_open().
 */
int file_view_open_path(struct file_view *view, const char *path);

/*
 * Opens the program of the process. *path gets its path as the kernel shows it, to be freed. Errors
 * as file_view_open().
 */
int file_view_open_program(struct file_view *view, const struct maps *maps, char **path);
/* Like file_view_open_program(), but the descriptor is O_PATH. */
int file_view_program_place(struct file_view *view, const struct maps *maps, char **path);

#endif
