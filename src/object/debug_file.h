/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the debug information of an object: in the object itself, or in a separate file, which its
 * build ID or its .gnu_debuglink names. A third file may hold what several debug files share
 * (.gnu_debugaltlink, made by dwz(1)).
 */
#ifndef TRACER_OBJECT_DEBUG_FILE_H
#define TRACER_OBJECT_DEBUG_FILE_H

#include "object/elf.h"

/*
 * Opens a file for reading that an object of unknown origin has named. Returns a descriptor of a
 * regular file, or -errno. The paths are absolute, without "." and "..". The opener decides which
 * of them may be opened at all.
 */
typedef int debug_opener(void *context, const char *path);

struct debug_files {
	struct elf_file *information; /* the file with .debug_info; NULL: there is none */
	struct elf_file *shared;      /* the file that its alternate link leads to, or NULL */
	bool lacks_shared;	      /* it has an alternate link, but that file was not found */
	/*
	 * If none was found: the first file in its place that belongs to another object, and the
	 * reason.
	 */
	char *stranger;
	const char *why_stranger;
};

/*
 * Looks for the debug information of `object`, which is known as `path` (if that is not absolute,
 * only the build ID is used). A file that belongs to another object, by its build ID or its
 * checksum, is skipped and noted. The files in *out have references of their own, which
 * debug_files_deinit() drops.
 */
void debug_files_find(struct elf_file *object, const char *path, debug_opener *opener,
		      void *context, struct debug_files *out);
void debug_files_deinit(struct debug_files *files);

/*
 * Returns the build ID of an object file as hexadecimal digits, which the caller frees, or NULL if
 * it has none.
 */
char *debug_file_build_id(struct elf_file *file);

#endif
