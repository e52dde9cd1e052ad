/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which PLT stub jumps through which GOT slot, by decoding stubs and not by counting them:
 * see elf_plt.c.
 */
#ifndef TRACER_OBJECT_ELF_PLT_H
#define TRACER_OBJECT_ELF_PLT_H

#include "object/elf_private.h"

/* Sets `stub` in each slot. */
void elf_find_stubs(struct elf_file *file, struct got_slot *slots, size_t count);

#endif
