/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Versions of symbols (glibc's elf.h; LSB, "Symbol Versioning"): see elf_versions.c. */
#ifndef TRACER_OBJECT_ELF_VERSIONS_H
#define TRACER_OBJECT_ELF_VERSIONS_H

#include "object/elf.h"

/*
 * Returns the hash of the version's name with which a symbol of .dynsym is defined or needed, or 0
 * if it has no version.
 */
uint32_t elf_symbol_version(const struct elf_file *file, const struct elf_symbol *symbol);

#endif
