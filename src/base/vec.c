/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The growable array. */
#include "base/vec.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void vec_init(struct vec *vec, size_t item_size)
{
	*vec = (struct vec){.item_size = item_size};
}

void vec_deinit(struct vec *vec)
{
	free(vec->items);
	vec_init(vec, vec->item_size);
}

void *vec_push(struct vec *vec, const void *item)
{
	if (vec->count == vec->capacity) {
		vec->capacity = vec->capacity ? vec->capacity * 2 : 8;
		vec->items = xreallocarray(vec->items, vec->capacity, vec->item_size);
	}
	void *place = (char *)vec->items + vec->count++ * vec->item_size;

	if (item)
		memcpy(place, item, vec->item_size);
	else
		memset(place, 0, vec->item_size);
	return place;
}

void vec_remove(struct vec *vec, size_t index)
{
	char *place = vec_at(vec, index);

	vec->count--;
	memmove(place, place + vec->item_size, (vec->count - index) * vec->item_size);
}

void vec_remove_fast(struct vec *vec, size_t index)
{
	vec->count--;
	if (index != vec->count)
		memcpy(vec_at(vec, index), vec_at(vec, vec->count), vec->item_size);
}

void vec_clear(struct vec *vec)
{
	vec->count = 0;
}
