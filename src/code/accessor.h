/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out what simple accessor functions return, such as `return table;` or `return p ? p->text :
 * NULL;`. Where a library keeps data private, the code of such a function may be the only source
 * for the location of that data. The result is read from the instructions; the function is never
 * run.
 */
#ifndef TRACER_CODE_ACCESSOR_H
#define TRACER_CODE_ACCESSOR_H

#include "base/arch.h"

enum { ACCESSOR_LOADS_MAX = 2 };

/*
 * The returned value as a sequence of operations: start with the base (see of_argument) and add
 * `offset[0]`; then, `loads` times, load the word at the sum and add the next offset.
 */
struct accessor {
	/* the base is the first argument, which is not NULL; otherwise the base is 0 */
	bool of_argument;
	unsigned loads;
	uint64_t offset[ACCESSOR_LOADS_MAX + 1];
};

/*
 * Decodes the function at `function`, whose code is read from `memory`, and stores what it returns
 * in *out. Returns 0, -EFAULT if its first byte cannot be read, or -ENOTSUP if it does anything
 * else or returns NULL.
 */
int accessor_find(struct decoder *decoder, const struct arch *arch,
		  const struct memory_source *memory, uint64_t function, struct accessor *out);

#endif
