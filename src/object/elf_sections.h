/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads section headers, which serve to find .symtab and the PLTs: see elf_sections.c. */
#ifndef TRACER_OBJECT_ELF_SECTIONS_H
#define TRACER_OBJECT_ELF_SECTIONS_H

#include "object/elf_private.h"

/* The section headers; none if the file has none, or damaged ones. */
const GElf_Shdr *elf_sections(struct elf_file *file, size_t *count);
/* Returns "" if the section has no name; never NULL. */
const char *elf_section_name(const struct elf_file *file, const GElf_Shdr *section);
/* Returns the first section of this type, or NULL. */
const GElf_Shdr *elf_section_of_type(struct elf_file *file, uint32_t type);

#endif
