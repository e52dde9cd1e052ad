/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary searches. */
#include "base/sorted.h"

#include <stdbool.h>
#include <string.h>

static uint64_t key_at(const struct sorted *sorted, size_t index)
{
	uint64_t key;

	memcpy(&key, (const char *)sorted->items + index * sorted->item_size + sorted->key,
	       sizeof key);
	return key;
}

/* Returns the index of the first item that is above `key`, or with `or_equal` not below it. */
static size_t search(const struct sorted *sorted, uint64_t key, bool or_equal)
{
	size_t low = 0, high = sorted->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const uint64_t found = key_at(sorted, middle);

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
