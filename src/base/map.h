/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from a 64-bit key (an address, a pid) to a pointer. Open addressing with linear
 * probing; made for the one lookup per breakpoint stop. The map owns neither keys' nor values'
 * memory. Zero-initialised is an empty map.
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

void map_deinit(struct map *map); /* frees the table; the map is empty again */
/* The value, or NULL. */
void *map_get(const struct map *map, uint64_t key);
/* Sets or replaces; `value` must not be NULL. */
void map_put(struct map *map, uint64_t key, void *value);
/* Takes the key out; returns the value it had, or NULL. */
void *map_remove(struct map *map, uint64_t key);
/*
 * Walks all entries in no order: start with *cursor = 0; false at the end. The map must not
 * be changed during the walk.
 */
bool map_next(const struct map *map, size_t *cursor, uint64_t *key, void **value);

#endif
