/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table from names to pointers that keeps the order of insertion. Names need no NUL at the
 * end. The table owns neither names nor values; both must outlive it. A zero-initialised table is
 * empty. Names are never removed.
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
	uint32_t *slots;   /* hash buckets: index into entries plus one; 0 is free */
	size_t slot_count; /* zero or a power of two */
};

void names_deinit(struct names *names);
/* Returns the value of a name, or NULL. */
const void *names_get(const struct names *names, const char *name, size_t length);
/*
 * Adds a name, or gives a known one a new value; the table then keeps the pointer to the old name.
 */
void names_put(struct names *names, const char *name, size_t length, const void *value);

#endif
