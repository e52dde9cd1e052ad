/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames of compiled code on the stacks of a space's threads: see native_stacks.c. */
#ifndef TRACER_TARGET_STACKS_NATIVE_STACKS_H
#define TRACER_TARGET_STACKS_NATIVE_STACKS_H

#include "sink/stacks/stack_table.h"
#include "target/target_state.h"
#include "unwind/unwind_walk.h"

/* What is known of the code of a space for walks: modules->native. NULL until the first walk. */
struct native_stacks;
struct perf_map;

/*
 * Stores up to `room` frames of a stopped thread, the innermost first. `is_entry`: with these
 * registers the thread is at the first instruction of a function; then the first frame is its
 * caller's. Returns how many; 0 if there is none. *end: why there are no more.
 */
size_t native_stacks_walk(struct thread *thread, const struct regs *regs, bool is_entry,
			  struct unwind_frame *frames, size_t room, enum unwind_end *end);

/*
 * Names a frame that native_stacks_walk() has found in the space of `thread`. The texts are valid
 * until the next call of either function.
 */
struct stack_frame native_stacks_name(const struct target *target, struct thread *thread,
				      const struct unwind_frame *frame);

/*
 * Stores the registers of frame `index` of those that the last native_stacks_walk() in the space of
 * `thread` has found: see unwinder_registers().
 */
bool native_stacks_registers(struct thread *thread, const struct unwind_frame *frames, size_t index,
			     struct unwind_registers *registers);

/*
 * Finds the function that the rows of call-frame information describe around `address`. Returns
 * false if there is none.
 */
bool native_stacks_function(struct thread *thread, uint64_t address, uint64_t *start,
			    uint64_t *end);

/*
 * From now on, code that the process has compiled itself has the names of `map` (NULL: none), which
 * is taken over; no process is asked for them.
 */
void native_stacks_keep_jit(struct thread *thread, struct perf_map *map);

/* Frees what is known of the code of a space. */
void native_stacks_forget(struct modules *modules);

#endif
