/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See extent.h. Both lists, of the extents in .eh_frame and of the addresses of symbols, are read
 * at first use, sorted, and kept in the file.
 */
#include "unwind/extent.h"

#include "base/sorted.h"
#include "base/vec.h"
#include "object/elf_private.h"
#include "object/elf_symbols.h"
#include "unwind/eh_frame.h"

#include <stdlib.h>

static void add_extent(void *context, const struct eh_function *function)
{
	const struct extent extent = {.start = function->start,
				      .size = function->size,
				      .entry = function->entry,
				      .lsda = function->lsda};

	vec_push(context, &extent);
}

static int compare(const void *a, const void *b)
{
	const struct extent *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static void read_extents(struct elf_file *file)
{
	struct vec extents = VEC_OF(struct extent);

	file->extents_read = true;
	eh_frame_for_each(file, add_extent, &extents);
	if (extents.count)
		qsort(extents.items, extents.count, extents.item_size, compare);
	file->extents = extents.items;
	file->extent_count = extents.count;
}

const struct extent *extent_list(struct elf_file *file, size_t *count)
{
	if (!file->extents_read)
		read_extents(file);
	*count = file->extent_count;
	return file->extents;
}

/* Returns the last extent that begins at or before `address`, or NULL. */
static struct extent *last_extent(struct elf_file *file, uint64_t address)
{
	if (!file->extents_read)
		read_extents(file);
	const struct sorted starts = SORTED(struct extent, start, file->extents,
					    file->extent_count);
	const size_t behind = sorted_above(&starts, address);

	return behind ? &file->extents[behind - 1] : NULL;
}

static struct extent *find_extent(struct elf_file *file, uint64_t address)
{
	struct extent *last = last_extent(file, address);

	return last && last->start == address ? last : NULL;
}

uint64_t extent_of_function(struct elf_file *file, uint64_t address)
{
	const struct extent *found = find_extent(file, address);

	return found ? found->size : 0;
}

bool extent_around(struct elf_file *file, uint64_t address, uint64_t *start, uint64_t *size)
{
	const struct extent *last = last_extent(file, address);

	if (!last || address - last->start >= last->size)
		return false;
	*start = last->start;
	*size = last->size;
	return true;
}

void extent_remember(struct elf_file *file, uint64_t address, bool answer)
{
	struct extent *found = find_extent(file, address);

	if (!found)
		return;
	found->asked = true;
	found->answer = answer;
}

bool extent_recall(struct elf_file *file, uint64_t address, bool *answer)
{
	const struct extent *found = find_extent(file, address);

	*answer = found && found->answer;
	return found && found->asked;
}

uint64_t extent_entry(struct elf_file *file, uint64_t address)
{
	const struct extent *found = find_extent(file, address);

	return found ? found->entry : 0;
}

static int compare_starts(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void read_starts(struct elf_file *file)
{
	struct vec starts = VEC_OF(uint64_t);
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	file->starts_read = true;
	for (size_t i = 0; i < count; i++)
		if (symbols[i].value)
			vec_push(&starts, &symbols[i].value);
	if (starts.count)
		qsort(starts.items, starts.count, starts.item_size, compare_starts);
	file->starts = starts.items;
	file->start_count = starts.count;
}

uint64_t extent_to_next_symbol(struct elf_file *file, uint64_t address)
{
	if (!file->starts_read)
		read_starts(file);
	const struct sorted starts = SORTED_WORDS(file->starts, file->start_count);
	const size_t next = sorted_above(&starts, address);

	return next < file->start_count ? file->starts[next] - address : UINT64_MAX;
}
