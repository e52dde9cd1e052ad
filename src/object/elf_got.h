/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the address of _GLOBAL_OFFSET_TABLE_, which i386 code keeps in a register and refers to
 * GOT slots by: see elf_got.c.
 */
#ifndef TRACER_OBJECT_ELF_GOT_H
#define TRACER_OBJECT_ELF_GOT_H

#include "object/elf_private.h"

/*
 * The possible values of a register that holds the GOT's address, in code that refers to
 * GOT slots relative to it; 0: unknown.
 */
enum { ELF_GOTS = 4 };
void elf_find_gots(struct elf_file *file, uint64_t gots[ELF_GOTS]);

#endif
