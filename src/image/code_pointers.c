/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See code_pointers.h.
 *
 * In what is loaded anywhere, pointers to code are made by RELATIVE relocations, of which there may
 * be a hundred thousand, with the address in the relocation; or (DT_RELR) in the word itself, as it
 * is in programs that are loaded at their own address. There each word is taken for a pointer that
 * could be one. A bit for each byte of code says whether any leads there; whoever asks means but a
 * few of these bytes.
 */
#include "image/code_pointers.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "image/elf_private.h"

#include <string.h>

enum { PIECE = 1 << 16, WORD = 8, CODE_MAX = 256 << 20, DATA_MAX = 256 << 20 };

struct code_pointers {
	uint64_t low, high; /* of all code */
	uint8_t *bits;	    /* NULL: there is too much of it, or nothing */
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
