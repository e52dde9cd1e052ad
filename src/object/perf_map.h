/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that a compiler in a process (JIT) gives its code: see perf_map.c. */
#ifndef TRACER_OBJECT_PERF_MAP_H
#define TRACER_OBJECT_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct perf_map;

/* Reads a file of that form, from its beginning. NULL: it cannot be read, or is too large. */
struct perf_map *perf_map_read(int fd);
void perf_map_destroy(struct perf_map *map); /* NULL is allowed */
/*
 * Returns the name of the code at `address`, which lives as long as the map, and in *offset the
 * distance from its beginning; NULL if the file names none.
 */
const char *perf_map_find(const struct perf_map *map, uint64_t address, uint64_t *offset);

#endif
