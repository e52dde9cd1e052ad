/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table from names to pointers that remembers the order of insertion. Names need no NUL
 * behind them. The table owns neither names nor values; both must outlive it. Zero-initialised is
 * an empty table; nothing is ever removed.
 */
#ifndef TRACER_PROTO_NAMES_H
#define TRACER_PROTO_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct name_entry {
	const char *name;
	size_t length;
	uint32_t hash;
	const void *value;
};

struct names {
	struct name_entry *entries; /* in order of insertion */
	size_t count;
	uint32_t *slots;   /* index into entries plus one; 0 is free */
	size_t slot_count; /* zero or a power of two */
};

void names_deinit(struct names *names);
/* The value of a name, or NULL. */
const void *names_get(const struct names *names, const char *name, size_t length);
/* Adds a name, or gives a known one a new value (then the table keeps the name it has). */
void names_put(struct names *names, const char *name, size_t length, const void *value);

#endif
