/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the hash tables of a dynamic section (DT_GNU_HASH, DT_HASH) for two purposes: the number
 * of symbols, which nothing else in the dynamic section tells, and a quick negative answer: see
 * elf_hash.c.
 */
#ifndef TRACER_OBJECT_ELF_HASH_H
#define TRACER_OBJECT_ELF_HASH_H

#include "object/elf_private.h"

/* Returns the number of symbols in .dynsym, from any source that tells it. */
size_t elf_dynamic_symbol_count(struct elf_file *file);
/* Returns false if there is a DT_GNU_HASH and it says that no symbol of this name is defined. */
bool elf_may_define(struct elf_file *file, const char *name);
void elf_free_hash(struct gnu_hash *hash);
/* The hash function of DT_GNU_HASH. */
uint32_t elf_hash_name(const char *name);

#endif
