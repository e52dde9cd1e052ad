/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MiniDebugInfo: a compressed symbol table in a stripped file. See mini_debug.c. */
#ifndef TRACER_OBJECT_MINI_DEBUG_H
#define TRACER_OBJECT_MINI_DEBUG_H

#include "object/elf.h"

/* Returns true if the file has such a table, and the tracer was built with what unpacks it. */
bool mini_debug_is_there(struct elf_file *file);

/*
 * Unpacks the table, for a process that may die of it (tracee/helper.h). Returns 0 and in *out a
 * file with symbols, as elf_open_debug() makes it; or -ENOENT: there is none, or it is damaged or
 * too large.
 */
int mini_debug_open(struct elf_file *file, struct elf_file **out);

#endif
