/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the FDE of a code address.
 *
 * Linkers write a table into .eh_frame_hdr that unwinders search at run time. It is copied as a
 * whole: it has 8 bytes for each function, and one large read costs less than the fifteen small
 * ones of a search in the file. Some static programs have no such table, and a damaged file may
 * have one that is not sorted or leads nowhere; then all of .eh_frame is decoded, which takes some
 * milliseconds.
 *
 * Addresses are kept as distances from the first segment, in 32 bits. Functions that lie farther
 * away are left out.
 */
#include "unwind/eh_search.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "unwind/eh_frame.h"
#include "unwind/extent.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR = 8, FUNCTIONS_MAX = 4 << 20 };

uint64_t eh_search_base(const struct elf_file *file)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t first = count ? segments[0].address : 0;

	for (size_t i = 1; i < count; i++)
		if (segments[i].address < first)
			first = segments[i].address;
	return first;
}

static void reserve(struct eh_search *search, size_t count)
{
	search->starts = xcalloc(count, sizeof *search->starts);
	search->entries = xcalloc(count, sizeof *search->entries);
}

/* Returns the address that a number in the table stands for, relative to the base. */
static uint64_t pair_address(const struct eh_search *search, const struct eh_header *header,
			     const uint8_t *number, bool narrow)
{
	int32_t distance;

	memcpy(&distance, number, sizeof distance);
	uint64_t address = header->address + (uint64_t)(int64_t)distance;

	return (narrow ? (uint32_t)address : address) - search->base;
}

static void read_all(struct eh_search *search, struct elf_file *file)
{
	size_t count;
	const struct extent *extents = extent_list(file, &count);

	search->from_header = false;
	reserve(search, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = extents[i].start - search->base;

		if (start > UINT32_MAX || extents[i].entry - search->base > UINT32_MAX)
			continue;
		search->starts[search->count] = (uint32_t)start;
		search->entries[search->count++] = (uint32_t)(extents[i].entry - search->base);
	}
}

/* Returns false if there is no table of the usual kind, or it is damaged. */
static bool read_table(struct eh_search *search, struct elf_file *file)
{
	struct eh_header header;
	uint64_t offset, available, last = 0;
	bool narrow = elf_arch(file)->abi->word == 4;

	if (!eh_header_read(file, &header) || header.encoding != (EH_DATAREL | EH_SDATA4) ||
	    !header.count || header.count > FUNCTIONS_MAX ||
	    !elf_locate(file, header.table, &offset, &available) || header.count > available / PAIR)
		return false;
	_cleanup_free_ uint8_t *pairs = elf_file_load(file, offset, header.count * PAIR);

	if (!pairs)
		return false;
	reserve(search, header.count);
	for (size_t i = 0; i < header.count; i++) {
		uint64_t start = pair_address(search, &header, pairs + i * PAIR, narrow);
		uint64_t entry = pair_address(search, &header, pairs + i * PAIR + 4, narrow);

		if (start > UINT32_MAX || entry > UINT32_MAX || start < last)
			return false;
		last = start;
		search->starts[i] = (uint32_t)start;
		search->entries[i] = (uint32_t)entry;
	}
	search->count = header.count;
	search->from_header = true;
	return true;
}

void eh_search_init(struct eh_search *search, struct elf_file *file)
{
	*search = (struct eh_search){.base = eh_search_base(file)};
	if (!read_table(search, file))
		eh_search_reread(search, file);
}

void eh_search_reread(struct eh_search *search, struct elf_file *file)
{
	eh_search_deinit(search);
	read_all(search, file);
}

void eh_search_deinit(struct eh_search *search)
{
	free(search->starts);
	free(search->entries);
	search->starts = search->entries = NULL;
	search->count = 0;
}

long eh_search_find(const struct eh_search *search, uint64_t address)
{
	size_t low = 0, high = search->count;
	uint64_t distance = address - search->base;

	if (distance > UINT32_MAX)
		return -1;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (search->starts[middle] <= distance)
			low = middle + 1;
		else
			high = middle;
	}
	return (long)low - 1;
}

uint64_t eh_search_entry(const struct eh_search *search, long index)
{
	return search->base + search->entries[index];
}

uint64_t eh_search_start(const struct eh_search *search, long index)
{
	return search->base + search->starts[index];
}
