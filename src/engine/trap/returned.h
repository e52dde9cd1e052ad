/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a stack's pending calls has returned, now that a thread is where it returns to. */
#ifndef TRACER_ENGINE_TRAP_RETURNED_H
#define TRACER_ENGINE_TRAP_RETURNED_H

#include "engine/trap/stackset.h"

/* What the slot of a pending call holds; 0: nobody knows. */
uint64_t returned_word(const struct call *call);

/* Whether the slot still holds the return address, as far as can be seen. */
bool returned_is_intact(const struct callstacks *stacks, const struct call *call);

/*
 * The index of the call that returned; of several that made tail calls, one from the other, the
 * oldest. The number of pending calls when none returns there.
 */
size_t returned_find(const struct callstacks *stacks, const struct stack *stack,
		     const struct arrival *arrival);

/*
 * Of the calls that share the slot and the return address of call `found`, the one that was made in
 * the frames that are on the stack now.
 */
size_t returned_alike(const struct callstacks *stacks, const struct stack *stack, size_t found);

#endif
