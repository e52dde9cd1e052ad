/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that relocations change (DT_TEXTREL): in i386 shared objects and PIEs that were
 * compiled without -fPIC, and in x86-64 ones of the large model: see elf_text.c.
 */
#ifndef TRACER_OBJECT_ELF_TEXT_H
#define TRACER_OBJECT_ELF_TEXT_H

#include "object/elf.h"
#include "object/elf_private.h"

/*
 * Returns true if relocations change any of the `length` bytes of code at `address`. Such code
 * differs in the file, and in memory before the dynamic linker has relocated it, from the code that
 * will run.
 */
bool elf_relocates_code(struct elf_file *file, uint64_t address, size_t length);
/* Returns true if the address is in an executable segment. */
bool elf_is_code(const struct elf_file *file, uint64_t address);
/* Returns true if the file says that its code is relocated. */
bool elf_has_text_relocations(const struct elf_file *file);

#endif
