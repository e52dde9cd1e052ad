/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open-addressing hash table whose buckets are indices into an array, so that the entries stay
 * in the order of insertion.
 */
#include "proto/names.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a: names are short, and nothing is gained by making them collide. */
static uint32_t hash_of(const char *name, size_t length)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash;
}

/* Returns the bucket that has the name, or the free one where it belongs. */
static uint32_t *find(const struct names *names, const char *name, size_t length, uint32_t hash)
{
	size_t mask = names->slot_count - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t *slot = &names->slots[i];

		if (!*slot)
			return slot;
		const struct name_entry *entry = &names->entries[*slot - 1];

		if (entry->hash == hash && entry->length == length &&
		    memcmp(entry->name, name, length) == 0)
			return slot;
	}
}

/* Doubles both arrays. The buckets stay at most half full. */
static void grow(struct names *names)
{
	size_t slot_count = names->slot_count ? names->slot_count * 2 : 64;

	free(names->slots);
	names->slots = xcalloc(slot_count, sizeof *names->slots);
	names->slot_count = slot_count;
	names->entries = xreallocarray(names->entries, slot_count / 2, sizeof *names->entries);
	for (size_t i = 0; i < names->count; i++) {
		const struct name_entry *entry = &names->entries[i];

		*find(names, entry->name, entry->length, entry->hash) = (uint32_t)i + 1;
	}
}

void names_deinit(struct names *names)
{
	free(names->entries);
	free(names->slots);
	*names = (struct names){0};
}

const void *names_get(const struct names *names, const char *name, size_t length)
{
	if (!names->count)
		return NULL;
	uint32_t slot = *find(names, name, length, hash_of(name, length));

	return slot ? names->entries[slot - 1].value : NULL;
}

void names_put(struct names *names, const char *name, size_t length, const void *value)
{
	uint32_t hash = hash_of(name, length);

	if (names->count * 2 >= names->slot_count)
		grow(names);
	uint32_t *slot = find(names, name, length, hash);

	if (*slot) {
		names->entries[*slot - 1].value = value;
		return;
	}
	names->entries[names->count++] = (struct name_entry){
		.name = name,
		.length = length,
		.hash = hash,
		.value = value,
	};
	*slot = (uint32_t)names->count;
}
