/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that relocations change (DT_TEXTREL): in i386 shared objects and PIEs that were
 * compiled without -fPIC, and in x86-64 ones of the large model. Few objects have such code, so the
 * relocations are searched only in files that declare it.
 */
#include "object/elf_text.h"

#include "base/sorted.h"
#include "base/vec.h"
#include "object/elf_private.h"
#include "object/elf_relocations.h"

#include <stdlib.h>

enum { WORD_MAX = 8 };

bool elf_is_code(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->flags & PF_X && address >= segment->address &&
		    address - segment->address < segment->memory_size)
			return true;
	}
	return false;
}

bool elf_has_text_relocations(const struct elf_file *file)
{
	return file->tags[DT_TEXTREL] || file->tags[DT_FLAGS] & DF_TEXTREL;
}

struct text_search {
	const struct elf_file *file;
	struct vec found; /* uint64_t */
};

static bool add_word(void *context, const GElf_Rela *relocation, bool implicit)
{
	struct text_search *search = context;
	const uint64_t address = relocation->r_offset;

	(void)implicit;
	if (elf_is_code(search->file, address))
		vec_push(&search->found, &address);
	return true;
}

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void read_words(struct elf_file *file)
{
	struct text_search search = {.file = file, .found = VEC_OF(uint64_t)};

	file->relocated_read = true;
	if (!elf_has_text_relocations(file))
		return;
	elf_for_each_relocation(file, true, add_word, &search);
	if (search.found.count)
		qsort(search.found.items, search.found.count, search.found.item_size, compare);
	file->relocated = search.found.items;
	file->relocated_count = search.found.count;
}

bool elf_relocates_code(struct elf_file *file, uint64_t address, size_t length)
{
	if (!file->relocated_read)
		read_words(file);
	const struct sorted words = SORTED_WORDS(file->relocated, file->relocated_count);
	/* The first relocated word that may extend to `address`. */
	const size_t at = address < WORD_MAX ? 0 : sorted_above(&words, address - WORD_MAX);

	return at < file->relocated_count && file->relocated[at] < address + length;
}
