/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening the files that a process has mapped. The names come from the process, so they are
 * followed by the rules of doc/SECURITY.md, and what is opened is compared with what is mapped.
 */
#ifndef TRACER_INFERIOR_FILES_H
#define TRACER_INFERIOR_FILES_H

#include "base/vec.h"
#include "inferior/maps.h"

#include <limits.h>

/* What a process sees of the file system; made for one look at its modules, as it may change. */
struct file_view {
	pid_t pid;
	int root; /* its root directory (O_PATH); -1: not opened yet, or out of reach */
	char prefix[PATH_MAX]; /* where that is for us, "" for our own root */
	bool root_tried;
	struct vec hanging; /* dev_t: file systems whose server may never answer (FUSE) */
	bool mounts_read;
};

void file_view_init(struct file_view *view, pid_t pid);
void file_view_deinit(struct file_view *view);

/*
 * Opens the file behind a mapping for reading: a descriptor of a regular file, or -errno. -ENOENT:
 * it has no name any more, or none below the root of the process; -ESTALE: something else has the
 * name now; -EREMOTE: it is on a file system that may never answer; -EACCES, -EPERM.
 */
int file_view_open(struct file_view *view, const struct mapping *mapping);

/*
 * Opens a file by its path, as the kernel would tell it to us (so for a process with a root
 * directory of its own, that is in front of it), for reading: as above. No links are followed.
 */
int file_view_open_path(struct file_view *view, const char *path);

/*
 * Opens the program that the process runs, and gives its path as the kernel tells it, to be freed:
 * as above.
 */
int file_view_open_program(struct file_view *view, const struct maps *maps, char **path);
/* Only its place (O_PATH), to be looked at. */
int file_view_program_place(struct file_view *view, const struct maps *maps, char **path);

#endif
