/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter that tells which names .symtab may have, without decoding it: two bits for each name:
 * see elf_mentions.c.
 */
#ifndef TRACER_OBJECT_ELF_MENTIONS_H
#define TRACER_OBJECT_ELF_MENTIONS_H

#include "object/elf_private.h"

/* Returns false if no symbol of .symtab has this name, or there is no .symtab. */
bool elf_may_mention(struct elf_file *file, const char *name);
void elf_free_mentions(struct name_filter *filter);

#endif
