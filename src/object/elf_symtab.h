/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbol tables of a file and their names, not decoded: .dynsym, .dynstr, .symtab, .strtab. */
#ifndef TRACER_OBJECT_ELF_SYMTAB_H
#define TRACER_OBJECT_ELF_SYMTAB_H

#include "object/elf_private.h"

/*
 * Returns all of .dynsym, by the index that relocations use, or NULL if there is none. The caller
 * frees it.
 */
GElf_Sym *elf_load_dynamic_symbols(struct elf_file *file, size_t *count);
const struct string_table *elf_dynamic_names(struct elf_file *file);
/* Reads the names at a file offset. `text` is NULL if there are none; the caller frees it. */
struct string_table elf_load_names(const struct elf_file *file, uint64_t offset, uint64_t size);
/* Finds .symtab and the section with its names. Returns false if there is none. */
bool elf_find_symtab(struct elf_file *file, const GElf_Shdr **symbols, const GElf_Shdr **names);
/* Returns the name at `offset`, or NULL if there is none or it is empty. */
const char *elf_name_at(const struct string_table *names, uint64_t offset);

#endif
