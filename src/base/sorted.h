/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches in arrays that are sorted by a uint64_t member of their items, such as an address. Items
 * may be equal in it.
 */
#ifndef TRACER_BASE_SORTED_H
#define TRACER_BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

struct sorted {
	const void *items;
	size_t count;
	size_t item_size;
	size_t key; /* the offset of the member */
};

/* Initialiser: `const struct sorted s = SORTED(struct thing, address, things, count);` */
#define SORTED(type, member, array, length)                                                        \
	{                                                                                          \
		.items = (array), .count = (length), .item_size = sizeof(type),                    \
		.key = offsetof(type, member)                                                      \
	}

/* The same for an array of uint64_t. */
#define SORTED_WORDS(array, length)                                                                \
	{                                                                                          \
		.items = (array), .count = (length), .item_size = sizeof(uint64_t)                 \
	}

/* Returns the index of the first item whose member is not below `key`; count if there is none. */
size_t sorted_from(const struct sorted *sorted, uint64_t key);
/* Returns the index of the first item whose member is above `key`; count if there is none. */
size_t sorted_above(const struct sorted *sorted, uint64_t key);
/*
 * For items that are ranges, of which none overlap, and that are sorted by their ends: returns the
 * one with this address, or NULL. The end is the first address behind a range; `start` is the
 * offset of the member with the first address in it.
 */
const void *sorted_around(const struct sorted *ends, size_t start, uint64_t address);

#endif
