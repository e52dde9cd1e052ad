/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes symbols when they are first needed: see elf_symbols.c. */
#ifndef TRACER_OBJECT_ELF_SYMBOLS_H
#define TRACER_OBJECT_ELF_SYMBOLS_H

#include "object/elf.h"
#include "object/elf_symtab.h"

/*
 * Returns all defined and undefined symbols of .dynsym, then those of .symtab if there is one. Both
 * are read at the first call.
 */
const struct elf_symbol *elf_symbols(struct elf_file *file, size_t *count);
/*
 * Returns true if any symbol may be a function that the file defines; false if all were stripped.
 */
bool elf_has_functions(struct elf_file *file);
/*
 * Returns the defined symbol with this name, or NULL. Prefers .dynsym, then global and weak
 * symbols, then the default version. For most files that lack the name, no symbol table is decoded.
 */
const struct elf_symbol *elf_find_symbol(struct elf_file *file, const char *name);
/* Like elf_find_symbol(), for .dynsym only: it does not read .symtab, which may be large. */
const struct elf_symbol *elf_find_exported(struct elf_file *file, const char *name);
/*
 * Returns the next defined symbol with the same name (another version, another static function), or
 * NULL. `symbol` must come from elf_find_symbol() or elf_find_next(). Addresses may occur twice.
 */
const struct elf_symbol *elf_find_next(struct elf_file *file, const struct elf_symbol *symbol);
/*
 * Returns true if a function symbol of this name is the cold part of a function (gcc's
 * -freorder-blocks-and-partition). Code jumps to it in the middle of a call, so anything may be on
 * top of the stack there.
 */
bool elf_is_part_of_function(const char *name);

#endif
