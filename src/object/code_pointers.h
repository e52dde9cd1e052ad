/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the places in a file's code to which its data has pointers: possible targets of jumps by
 * way of tables (labels as values in C, goto *table[n]).
 */
#ifndef TRACER_OBJECT_CODE_POINTERS_H
#define TRACER_OBJECT_CODE_POINTERS_H

#include "object/elf.h"

struct code_pointers;

/*
 * Returns true if a word of the file's data holds an address in [low, high) of its code, or will
 * when it is relocated. The addresses are in the file's own address space; for 64-bit files. Reads
 * all relocations at the first call. Returns true also if there is too much code to tell.
 */
bool elf_points_into(struct elf_file *file, uint64_t low, uint64_t high);

/* Called by elf.c; NULL is allowed. */
void code_pointers_free(struct code_pointers *pointers);

#endif
