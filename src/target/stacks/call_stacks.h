/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of calls and threads, of native and script frames: see call_stacks.c. */
#ifndef TRACER_TARGET_STACKS_CALL_STACKS_H
#define TRACER_TARGET_STACKS_CALL_STACKS_H

#include "sink/stacks/stack_table.h"
#include "target/stacks/walked_stack.h"
#include "target/target_state.h"

struct call_stacks;

/*
 * Reads the frame descriptions, if stacks or script lines are to be shown. Mistakes in them are
 * reported.
 */
void call_stacks_init(struct target *target);
void call_stacks_deinit(struct target *target);
/* Returns the stacks that records refer to; NULL: none are shown. */
const struct stack_table *call_stacks_table(const struct target *target);

/*
 * The `stack` function of engine_events; `context` is the target. `thread` is stopped. Returns the
 * number of its stack in the table, or 0 if no frame is known.
 */
uint32_t call_stacks_of(void *context, struct thread *thread, const struct regs *entry);
/* The `teach_stack` function of engine_events; `context` is the target. */
bool call_stacks_teach(void *context, struct thread *thread, const struct regs *entry);

/*
 * Like call_stacks_of(), for a thread with these registers.
 * Frames whose stack pointer is not above `place` are left out; 0: none are.
 */
uint32_t call_stacks_of_thread(struct target *target, struct thread *thread,
			       const struct regs *regs, uint64_t place);

/*
 * While the memory of a space is frozen, its threads stand, or what they change does not matter:
 * memory that was read for one stack is used for the next.
 */
void call_stacks_freeze(struct target *target, struct thread *thread, bool frozen);

/*
 * Walks the stack of a thread with these registers, without its source lines, and stores the frames
 * in `walked`, which is empty. If the thread runs, the result is a guess. Returns false if the
 * registers are partial, and others are needed.
 */
bool call_stacks_walk(struct target *target, struct thread *thread, const struct regs *regs,
		      struct walked_stack *walked);
/* Returns true if script frames of the space's threads may be found by their thread pointers. */
bool call_stacks_want_pointer(struct target *target, struct thread *thread);
/*
 * Has debug information read that the source lines of such a stack need, while the caller goes on:
 * a hint, for the first of many threads. The thread need not stand.
 */
void call_stacks_ask_ahead(struct target *target, struct thread *thread, const struct regs *regs);
/*
 * Looks up the source lines of a stack that was walked in `space`, whose threads may run meanwhile,
 * and empties `walked`. Returns the number of the stack in the table, or 0 if no frame is known.
 */
uint32_t call_stacks_keep(struct target *target, const struct space *space,
			  struct walked_stack *walked);

#endif
