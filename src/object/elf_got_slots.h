/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from relocations which GOT slots hold function addresses, and which function initialises
 * the module first: see elf_got_slots.c.
 */
#ifndef TRACER_OBJECT_ELF_GOT_SLOTS_H
#define TRACER_OBJECT_ELF_GOT_SLOTS_H

#include "object/elf.h"

/*
 * Returns the slots that relocations fill with function addresses, and their PLT stubs. They are
 * read at the first call.
 */
const struct got_slot *elf_got_slots(struct elf_file *file, size_t *count);
/* Returns true if one of elf_got_slots() is for a symbol of this name. */
bool elf_has_got_slot(struct elf_file *file, const char *name);
/*
 * Returns the first initialisation function: DT_INIT, or the first entry of DT_INIT_ARRAY as its
 * relocation says; 0 if there is none. The module has been relocated when it runs.
 */
uint64_t elf_init_function(struct elf_file *file);

#endif
