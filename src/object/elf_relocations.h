/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the dynamic relocations in blocks: see elf_relocations.c. */
#ifndef TRACER_OBJECT_ELF_RELOCATIONS_H
#define TRACER_OBJECT_ELF_RELOCATIONS_H

#include "object/elf_private.h"

/*
 * Visits all dynamic relocations: DT_JMPREL, then DT_RELA and DT_REL without those in DT_JMPREL; in
 * a file without a dynamic section, those of sections. `relative`: also visit the RELATIVE
 * relocations that the linker has sorted to the front.
 */
void elf_for_each_relocation(struct elf_file *file, bool relative, elf_relocation_visitor *visit,
			     void *context);

#endif
