/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter that tells which names .symtab may have, without decoding it: two bits for each name.
 *
 * About fifty names are looked up in each module of a process (functions to hook, functions that
 * ask for their caller), most of them during the stop of an attach, and .symtab has no hash table.
 * Without the filter each lookup would search all names, which are megabytes in a program that was
 * not stripped.
 */
#include "object/elf_mentions.h"

#include "base/xalloc.h"
#include "object/elf_hash.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_symtab.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, BITS_A_NAME = 16 };

static uint64_t *place_of(const struct name_filter *filter, uint64_t hash, uint64_t *bit)
{
	*bit = UINT64_C(1) << hash % 64;
	return &filter->words[hash / 64 & filter->mask];
}

static void add_hash(const struct name_filter *filter, uint64_t hash)
{
	uint64_t bit;

	*place_of(filter, hash, &bit) |= bit;
}

static bool has_hash(const struct name_filter *filter, uint64_t hash)
{
	uint64_t bit;

	return *place_of(filter, hash, &bit) & bit;
}

/* A second hash, which does not depend on the lower bits of the first alone. */
static uint64_t second_hash(uint64_t hash)
{
	return hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* Adds all names of .symtab. Returns false if they cannot be read. */
static bool add_names(const struct elf_file *file, const GElf_Shdr *section,
		      const struct string_table *names, const struct name_filter *filter)
{
	const size_t size = elf_record_size(file, ELF_T_SYM);
	const uint64_t count = section->sh_size / size;
	GElf_Sym block[BLOCK];

	for (uint64_t done = 0; done < count; done += BLOCK) {
		const size_t some = count - done < BLOCK ? count - done : BLOCK;

		if (!elf_read_records(file, ELF_T_SYM, section->sh_offset + done * size, some,
				      block))
			return false;
		for (size_t i = 0; i < some; i++) {
			const char *name = elf_name_at(names, block[i].st_name);
			const uint64_t hash = name ? elf_hash_name(name) : 0;

			if (name) {
				add_hash(filter, hash);
				add_hash(filter, second_hash(hash));
			}
		}
	}
	return true;
}

static struct name_filter *make_filter(struct elf_file *file)
{
	struct name_filter *filter = xcalloc(1, sizeof *filter);
	const GElf_Shdr *section, *names;
	uint64_t words = 1;

	if (!elf_find_symtab(file, &section, &names) || section->sh_size > ELF_TABLE_MAX)
		return filter;
	struct string_table table = elf_load_names(file, names->sh_offset, names->sh_size);

	if (!table.text)
		return filter;
	while (words * 64 < section->sh_size / elf_record_size(file, ELF_T_SYM) * BITS_A_NAME)
		words *= 2;
	filter->words = xcalloc(words, sizeof *filter->words);
	filter->mask = words - 1;
	/* With all bits set .symtab will be decoded, which notices and reports the damage. */
	if (!add_names(file, section, &table, filter))
		memset(filter->words, 0xff, words * sizeof *filter->words);
	free(table.text);
	return filter;
}

bool elf_may_mention(struct elf_file *file, const char *name)
{
	if (!file->mentions)
		file->mentions = make_filter(file);
	if (!file->mentions->words)
		return false;
	const uint64_t hash = elf_hash_name(name);

	return has_hash(file->mentions, hash) && has_hash(file->mentions, second_hash(hash));
}

void elf_free_mentions(struct name_filter *filter)
{
	if (filter)
		free(filter->words);
	free(filter);
}
