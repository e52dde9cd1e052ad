/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See code_pointers.h.
 *
 * In position-independent files, RELATIVE relocations make the pointers to code. There may be a
 * hundred thousand of them. The address is in the relocation or, with DT_RELR, in the word itself.
 * In programs of fixed address it is in the word, too. Where it is in words, each word that could
 * be such a pointer counts as one. One bit for each byte of code tells whether a pointer leads
 * there; callers ask for few of these bytes.
 */
#include "object/code_pointers.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_relocations.h"

#include <string.h>

enum { PIECE = 1 << 16, WORD = 8, CODE_MAX = 256 << 20, DATA_MAX = 256 << 20 };

struct code_pointers {
	uint64_t low, high; /* range of all code */
	uint8_t *bits;	    /* NULL: there is no code, or too much */
};

static void mark(struct code_pointers *pointers, uint64_t address)
{
	uint64_t place = address - pointers->low;

	if (place < pointers->high - pointers->low)
		pointers->bits[place / 8] |= (uint8_t)(1U << place % 8);
}

static bool visit(void *context, const GElf_Rela *relocation, bool implicit)
{
	if (!implicit)
		mark(context, (uint64_t)relocation->r_addend);
	return true;
}

static void find_bounds(const struct elf_file *file, struct code_pointers *pointers)
{
	pointers->low = UINT64_MAX;
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (!(segment->flags & PF_X))
			continue;
		if (segment->address < pointers->low)
			pointers->low = segment->address;
		if (segment->address + segment->file_size > pointers->high)
			pointers->high = segment->address + segment->file_size;
	}
}

static void mark_words(const struct elf_file *file, const struct elf_segment *segment,
		       struct code_pointers *pointers)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE);
	uint64_t size = segment->file_size < DATA_MAX ? segment->file_size : DATA_MAX;
	uint64_t word;

	for (uint64_t at = -segment->address % WORD; at + WORD <= size; at += PIECE) {
		size_t length = size - at < PIECE ? (size_t)(size - at) : PIECE;

		if (!elf_file_read(file, segment->file_offset + at, piece, length))
			return;
		for (size_t i = 0; i + WORD <= length; i += WORD) {
			memcpy(&word, piece + i, sizeof word);
			mark(pointers, word);
		}
	}
}

static void find(struct elf_file *file, struct code_pointers *pointers)
{
	find_bounds(file, pointers);
	if (pointers->high <= pointers->low || pointers->high - pointers->low > CODE_MAX)
		return;
	pointers->bits = xcalloc((size_t)(pointers->high - pointers->low) / 8 + 1, 1);
	elf_for_each_relocation(file, true, visit, pointers);
	if (file->header.e_type != ET_EXEC && !file->tags[DT_RELR])
		return;
	for (size_t i = 0; i < file->segment_count; i++)
		if (!(file->segments[i].flags & PF_X))
			mark_words(file, &file->segments[i], pointers);
}

bool elf_points_into(struct elf_file *file, uint64_t low, uint64_t high)
{
	if (!file->code_pointers) {
		file->code_pointers = xcalloc(1, sizeof *file->code_pointers);
		find(file, file->code_pointers);
	}
	const struct code_pointers *pointers = file->code_pointers;

	for (uint64_t address = low; address < high; address++) {
		uint64_t place = address - pointers->low;

		if (place < pointers->high - pointers->low &&
		    (!pointers->bits || pointers->bits[place / 8] >> place % 8 & 1))
			return true;
	}
	return false;
}

void code_pointers_free(struct code_pointers *pointers)
{
	if (pointers)
		free(pointers->bits);
	free(pointers);
}
