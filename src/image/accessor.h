/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that do nothing but look something up: `return table;` or
 * `return p ? p->text : NULL;`. Where a library keeps something private, such a function may be all
 * that tells where it is. The answer is read from its instructions. The function is never run.
 */
#ifndef TRACER_IMAGE_ACCESSOR_H
#define TRACER_IMAGE_ACCESSOR_H

#include "base/arch.h"

enum { ACCESSOR_LOADS_MAX = 2 };

/*
 * What is returned: `offset[0]` is added to what it begins with; then, `loads` times, the word
 * there is loaded and the next offset added.
 */
struct accessor {
	bool of_argument; /* it begins with the first argument, which is not NULL; else with 0 */
	unsigned loads;
	uint64_t offset[ACCESSOR_LOADS_MAX + 1];
};

/*
 * What the function at `function` returns, of which the code is read from `memory`. 0, -EFAULT if
 * the code cannot be read, or -ENOTSUP if it does anything else, or returns NULL.
 */
int accessor_find(struct decoder *decoder, const struct arch *arch,
		  const struct memory_source *memory, uint64_t function, struct accessor *out);

#endif
