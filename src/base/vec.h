/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growable array of equal items in one block of memory. The owner of the struct owns the
 * items; pointers into it are good until the next push. Zero-initialised plus `item_size` is
 * an empty vec (VEC_OF).
 */
#ifndef TRACER_BASE_VEC_H
#define TRACER_BASE_VEC_H

#include <stddef.h>

struct vec {
	void *items; /* cast to the item type to index */
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
void vec_deinit(struct vec *vec); /* frees the block, not what items point to; vec is empty again */
/* Appends a copy of *item (zeroes when NULL); returns the new item's place. */
void *vec_push(struct vec *vec, const void *item);
/* The item at `index`, which must be below count. */
void *vec_at(const struct vec *vec, size_t index);
/* Removes one item, keeping the order of the others. */
void vec_remove(struct vec *vec, size_t index);
/* Removes one item by moving the last one into its place. */
void vec_remove_fast(struct vec *vec, size_t index);
/* Empties it and keeps the memory. */
void vec_clear(struct vec *vec);

#endif
