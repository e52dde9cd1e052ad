/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary searches. */
#include "base/sorted.h"

#include <stdbool.h>
#include <string.h>

static const char *item_at(const struct sorted *sorted, size_t index)
{
	return (const char *)sorted->items + index * sorted->item_size;
}

static uint64_t member_at(const char *item, size_t offset)
{
	uint64_t member;

	memcpy(&member, item + offset, sizeof member);
	return member;
}

/* Returns the index of the first item that is above `key`, or with `or_equal` not below it. */
static size_t search(const struct sorted *sorted, uint64_t key, bool or_equal)
{
	size_t low = 0, high = sorted->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const uint64_t found = member_at(item_at(sorted, middle), sorted->key);

		if (found < key || (found == key && !or_equal))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t sorted_from(const struct sorted *sorted, uint64_t key)
{
	return search(sorted, key, true);
}

size_t sorted_above(const struct sorted *sorted, uint64_t key)
{
	return search(sorted, key, false);
}

const void *sorted_around(const struct sorted *ends, size_t start, uint64_t address)
{
	const size_t index = sorted_above(ends, address);

	if (index == ends->count || address < member_at(item_at(ends, index), start))
		return NULL;
	return item_at(ends, index);
}
