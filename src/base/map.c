/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table with linear probing. Entries are moved at removal, so there are no tombstones. */
#include "base/map.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct map_entry {
	uint64_t key;
	void *value; /* NULL: free */
};

/* The finaliser of splitmix64, as addresses differ in few, low bits. */
static size_t home(const struct map *map, uint64_t key)
{
	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
	key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
	return (key ^ (key >> 31)) & (map->capacity - 1);
}

/* Returns the entry of `key`, or the free entry for it. The table must have a free entry. */
static struct map_entry *find(const struct map *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->entries[i].value && map->entries[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->entries[i];
}

static void grow(struct map *map)
{
	struct map old = *map;

	map->capacity = old.capacity ? old.capacity * 2 : 16;
	map->entries = xcalloc(map->capacity, sizeof *map->entries);
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].value)
			*find(map, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

void map_deinit(struct map *map)
{
	free(map->entries);
	*map = (struct map){0};
}

void map_deinit_values(struct map *map)
{
	for (size_t i = 0; i < map->capacity; i++)
		free(map->entries[i].value);
	map_deinit(map);
}

void *map_get(const struct map *map, uint64_t key)
{
	return map->count ? find(map, key)->value : NULL;
}

void map_put(struct map *map, uint64_t key, void *value)
{
	if (map->count * 4 >= map->capacity * 3)
		grow(map);
	struct map_entry *entry = find(map, key);

	map->count += !entry->value;
	*entry = (struct map_entry){.key = key, .value = value};
}

void *map_remove(struct map *map, uint64_t key)
{
	struct map_entry *entry = map->count ? find(map, key) : NULL;

	if (!entry || !entry->value)
		return NULL;
	void *value = entry->value;
	size_t mask = map->capacity - 1;
	size_t hole = (size_t)(entry - map->entries);

	/* Closes the gap: moves back every follower whose home is at or before the gap. */
	for (size_t i = (hole + 1) & mask; map->entries[i].value; i = (i + 1) & mask) {
		size_t distance = (i - home(map, map->entries[i].key)) & mask;

		if (distance >= ((i - hole) & mask)) {
			map->entries[hole] = map->entries[i];
			hole = i;
		}
	}
	map->entries[hole].value = NULL;
	map->count--;
	return value;
}

bool map_next(const struct map *map, size_t *cursor, uint64_t *key, void **value)
{
	for (; *cursor < map->capacity; (*cursor)++) {
		const struct map_entry *entry = &map->entries[*cursor];

		if (!entry->value)
			continue;
		if (key)
			*key = entry->key;
		*value = entry->value;
		(*cursor)++;
		return true;
	}
	return false;
}
