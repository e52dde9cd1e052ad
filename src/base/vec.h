/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growable array of equal items in one block of memory. The owner of the struct owns the items.
 * Pointers to items are valid until the next push. A struct that is zero except for `item_size` is
 * an empty array (VEC_OF).
 */
#ifndef TRACER_BASE_VEC_H
#define TRACER_BASE_VEC_H

#include <stddef.h>

struct vec {
	void *items; /* to be cast to a pointer to the item type */
	size_t count;
	size_t capacity;
	size_t item_size;
};

/* Initialiser: `struct vec v = VEC_OF(struct thing);` */
#define VEC_OF(type)                                                                               \
	{                                                                                          \
		.item_size = sizeof(type)                                                          \
	}

void vec_init(struct vec *vec, size_t item_size);
/* Frees the block, not what items point to; the array is empty then. */
void vec_deinit(struct vec *vec);
/* Appends a copy of *item (zeros if NULL). Returns the address of the new item. */
void *vec_push(struct vec *vec, const void *item);
/* Returns the address of the item at `index`, which must be below count. */
static inline void *vec_at(const struct vec *vec, size_t index)
{
	return (char *)vec->items + index * vec->item_size;
}

/* Removes one item and keeps the order of the others. */
void vec_remove(struct vec *vec, size_t index);
/* Removes one item and moves the last one into its place. */
void vec_remove_fast(struct vec *vec, size_t index);
/* Empties the array but keeps the memory. */
void vec_clear(struct vec *vec);

#endif
