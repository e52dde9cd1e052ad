/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the name of the function that contains an address, from symbols and PLT stubs: see
 * elf_address.c.
 */
#ifndef TRACER_OBJECT_ELF_ADDRESS_H
#define TRACER_OBJECT_ELF_ADDRESS_H

#include "object/elf.h"

/*
 * Returns the name of the function that contains the code at `address` of the file's own address
 * space, by its symbol or by its PLT stub, and in *offset the distance from its beginning; or NULL.
 * Of several names, the plainest one that is not local is preferred. Owned by the file.
 */
const char *elf_name_of_code(struct elf_file *file, uint64_t address, uint64_t *offset);
/*
 * Returns true if the function in front of `address`, in the file's own address space, ends there
 * by the sizes of symbols: at least one ends there, and none extends beyond.
 */
bool elf_symbol_ends_at(struct elf_file *file, uint64_t address);

#endif
