/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds names for slots without a symbol: IRELATIVE relocations have only the address of a
 * resolver: see elf_ifuncs.c.
 */
#ifndef TRACER_OBJECT_ELF_IFUNCS_H
#define TRACER_OBJECT_ELF_IFUNCS_H

#include "object/elf.h"

/*
 * Returns the name of the function that a GOT slot points to: the slot's symbol. An IRELATIVE slot
 * has none, so it gets the name of the IFUNC with its resolver: the name that programs use, and not
 * an alias (strrchr, not rindex). NULL if there is no name.
 */
const char *got_slot_name(struct elf_file *file, const struct got_slot *slot);
/*
 * Returns name number `index` of the slot's function, or NULL behind the last. Number 0 is
 * got_slot_name().
 */
const char *got_slot_alias(struct elf_file *file, const struct got_slot *slot, size_t index);
/*
 * Compares names like strcmp(), the plainest first: fewer leading underscores, then shorter names.
 */
int elf_compare_names(const char *left, const char *right);

#endif
