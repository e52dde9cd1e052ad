/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the debug information of an object is: in itself, or in a file of its own, which its build
 * ID or its .gnu_debuglink names; and what several of them share is in a third one
 * (.gnu_debugaltlink, as dwz(1) makes it).
 */
#ifndef TRACER_IMAGE_DEBUG_FILE_H
#define TRACER_IMAGE_DEBUG_FILE_H

#include "image/elf.h"

/*
 * Opens a file for reading that somebody's object has named: a descriptor of a regular file, or
 * -errno. The paths are absolute, without "." and "..". Which of them may be opened at all is
 * decided here.
 */
typedef int debug_opener(void *context, const char *path);

struct debug_files {
	struct elf_file *information; /* has .debug_info; NULL: there is none */
	struct elf_file *shared;      /* what the alternate link of it leads to, or NULL */
	bool lacks_shared;	      /* it has such a link, and that leads nowhere */
	/* While there is none: the first file in its place that belongs to something else; why. */
	char *stranger;
	const char *why_stranger;
};

/*
 * Looks for the debug information of `object`, which is known as `path` (absolute; else only its
 * build ID is gone by). What belongs to something else by its build ID, or checksum, is passed
 * over, and noted. What is found has references of its own: debug_files_deinit().
 */
void debug_files_find(struct elf_file *object, const char *path, debug_opener *opener,
		      void *context, struct debug_files *out);
void debug_files_deinit(struct debug_files *files);

#endif
