/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which places in a file's code its data holds the addresses of: what functions may jump to by way
 * of tables (labels as values in C, goto *table[n]).
 */
#ifndef TRACER_IMAGE_CODE_POINTERS_H
#define TRACER_IMAGE_CODE_POINTERS_H

#include "image/elf.h"

struct code_pointers;

/*
 * Whether a word of the file's data holds, or will when it has been relocated, an address in
 * [low, high) of its code; in the file's own address space, 64-bit files. Reads all relocations
 * when first asked; true, too, where there is too much code to tell.
 */
bool elf_points_into(struct elf_file *file, uint64_t low, uint64_t high);

/* elf.c; NULL is fine. */
void code_pointers_free(struct code_pointers *pointers);

#endif
