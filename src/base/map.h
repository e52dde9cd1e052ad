/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from a 64-bit key (an address, a pid) to a pointer, designed for one lookup per
 * breakpoint stop. Open addressing with linear probing. The map does not own the values. A
 * zero-initialised map is empty.
 */
#ifndef TRACER_BASE_MAP_H
#define TRACER_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry;

struct map {
	struct map_entry *entries;
	size_t count;
	size_t capacity; /* zero or a power of two */
};

void map_deinit(struct map *map);	 /* frees the table; the map is empty again */
void map_deinit_values(struct map *map); /* the same, after free(3) of each value */
/* Returns the value, or NULL. */
void *map_get(const struct map *map, uint64_t key);
/* Inserts or replaces. `value` must not be NULL. */
void map_put(struct map *map, uint64_t key, void *value);
/* Removes the key. Returns its value, or NULL. */
void *map_remove(struct map *map, uint64_t key);
/*
 * Iterates over all entries in no particular order: start with *cursor = 0; returns false at the
 * end. The map must not be changed meanwhile.
 */
bool map_next(const struct map *map, size_t *cursor, uint64_t *key, void **value);

#endif
