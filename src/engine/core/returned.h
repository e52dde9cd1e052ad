/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds which pending call of a stack has returned when a thread arrives at a return address. */
#ifndef TRACER_ENGINE_CORE_RETURNED_H
#define TRACER_ENGINE_CORE_RETURNED_H

#include "engine/core/stackset.h"

/* Returns the expected contents of a pending call's stack word. */
uint64_t returned_word(const struct call *call);

/* Returns true if the call's stack word still has the expected contents, or cannot be read. */
bool returned_is_intact(const struct callstacks *stacks, const struct call *call);

/*
 * Returns the index of the call that returned. Of calls that made tail calls to each other, the
 * oldest is returned. If none returns there, the result is the number of pending calls.
 */
size_t returned_find(const struct callstacks *stacks, const struct stack *stack,
		     const struct arrival *arrival);

/*
 * Of the calls that share stack word and return address with call `found`, returns the one that
 * was made in the frames that are on the stack now.
 */
size_t returned_alike(const struct callstacks *stacks, const struct stack *stack, size_t found);

#endif
