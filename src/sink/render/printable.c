/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of Unicode ranges, made by printable_ranges.py, and the search in it. A range ends
 * where the next one begins.
 */
#include "sink/render/printable.h"

#include <stddef.h>

/* An entry has the range's first code point above two bits with the class. */
#define H(first) ((first) << 2 | PRINTABLE_NOT)
#define M(first) ((first) << 2 | PRINTABLE_MARK)
#define N(first) ((first) << 2 | PRINTABLE_NARROW)
#define W(first) ((first) << 2 | PRINTABLE_WIDE)

static const uint32_t ranges[] = {
#include "sink/render/printable_ranges.inc"
};

enum { RANGES = sizeof ranges / sizeof *ranges };

void printable_find(uint32_t code_point, struct printable_range *range)
{
	size_t low = 0, high = RANGES;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (ranges[middle] >> 2 <= code_point)
			low = middle;
		else
			high = middle;
	}
	range->first = ranges[low] >> 2;
	range->behind = high < RANGES ? ranges[high] >> 2 : UINT32_MAX;
	range->class = (enum printable)(ranges[low] & 3);
}
