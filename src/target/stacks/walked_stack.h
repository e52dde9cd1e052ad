/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames of one stack on their way to the stack table: see walked_stack.c. */
#ifndef TRACER_TARGET_STACKS_WALKED_STACK_H
#define TRACER_TARGET_STACKS_WALKED_STACK_H

#include "base/vec.h"
#include "sink/stacks/stack_table.h"
#include "unwind/unwind_walk.h"

#include <sys/types.h>

struct modules;
struct target;

struct walked_stack {
	struct vec frames; /* struct stack_frame, with texts of their own; the innermost first */
	struct vec codes;  /* uint64_t: the address of each frame's code; 0: no native frame */
};

void walked_stack_init(struct walked_stack *stack);
void walked_stack_deinit(struct walked_stack *stack);

/* Adds a frame; its texts are copied. `native`: what the walk has found; NULL: no native frame. */
void walked_stack_add(struct walked_stack *stack, const struct stack_frame *named,
		      const struct unwind_frame *native);

/*
 * Asks about the source lines of these frames, without waiting for an answer: walked_stack_keep()
 * of a stack with the same frames is quicker then.
 */
void walked_stack_ask_ahead(const struct walked_stack *stack, const struct target *target,
			    const struct modules *modules, pid_t pid);

/*
 * Looks up the source lines of the native frames, whose code is in these modules of the process
 * `pid`, puts the stack into the table, and empties `stack`. With --inlines, functions that were
 * inlined get frames of their own. Returns the number of the stack in the table, or 0.
 */
uint32_t walked_stack_keep(struct walked_stack *stack, const struct target *target,
			   const struct modules *modules, pid_t pid, struct stack_table *table);

#endif
