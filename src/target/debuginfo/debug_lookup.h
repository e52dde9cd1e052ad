/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks for the files with the debug information of a module: see debug_lookup.c. */
#ifndef TRACER_TARGET_DEBUGINFO_DEBUG_LOOKUP_H
#define TRACER_TARGET_DEBUGINFO_DEBUG_LOOKUP_H

#include "object/debug_file.h"

#include <sys/types.h>

/*
 * Looks for the debug information of `file`, which the process `pid` knows as `path`. A file that
 * belongs to another build is reported. The caller calls debug_files_deinit() for *out.
 */
void debug_lookup(struct elf_file *file, const char *path, pid_t pid, struct debug_files *out);

#endif
