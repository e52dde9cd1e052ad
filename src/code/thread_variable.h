/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out which thread-local variable a function reads. Where a module keeps such a variable
 * private, the code of a function may be the only source for its place. The function is never run.
 */
#ifndef TRACER_CODE_THREAD_VARIABLE_H
#define TRACER_CODE_THREAD_VARIABLE_H

#include "base/arch.h"

struct thread_variable {
	/*
	 * The address of the word that tells where the variable is, which the dynamic linker
	 * writes; 0: `offset` tells it.
	 */
	uint64_t word;
	/*
	 * The word is the number of a module, and the next one an offset in that module's block;
	 * otherwise it is a distance from the thread pointer.
	 */
	bool of_module;
	int64_t offset; /* what is added to that; without a word: to the thread pointer */
};

/*
 * Decodes the function at `function`, whose code is read from `memory`, up to the first place where
 * it reads a thread-local variable. `is_word` returns true for a word that tells where one is.
 * Returns 0, -EFAULT if the first byte cannot be read, or -ENOTSUP if no certain place is found.
 */
int thread_variable_find(struct decoder *decoder, const struct arch *arch,
			 const struct memory_source *memory, uint64_t function,
			 bool (*is_word)(void *context, uint64_t address), void *context,
			 struct thread_variable *out);

#endif
