/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What walks find on the stack of a thread, without names: see raw_stack.c. */
#ifndef TRACER_TARGET_STACKS_RAW_STACK_H
#define TRACER_TARGET_STACKS_RAW_STACK_H

#include "engine/agent/scripts_abi.h"
#include "engine/agent/stacks_abi.h"
#include "target/target_state.h"
#include "unwind/script/program.h"
#include "unwind/unwind_walk.h"

struct script_library;
struct script_machine;

enum { RAW_FRAMES_MAX = STACKS_FRAMES, RAW_MACHINES_MAX = SCRIPTS_MACHINES };

/* The script frames of one machine, the innermost first. */
struct machine_frames {
	struct script_machine *machine;
	struct raw_frame *frames; /* room for RAW_FRAMES_MAX */
	size_t count;
	/* For the merging with native frames, call_stacks.c: */
	size_t next;	/* the first frame that was not added yet */
	size_t learned; /* the frame whose code was asked for last; SIZE_MAX: none's was */
	size_t runs;	/* native frames that run some */
};

struct raw_stack {
	struct machine_frames parts[RAW_MACHINES_MAX];
	size_t part_count; /* machines that have frames */
	struct unwind_frame native[RAW_FRAMES_MAX];
	size_t native_count;
	size_t native_first; /* frames inside of this one are left out */
	enum unwind_end native_end;
};

/* The state of a thread whose stack is wanted. */
struct stack_start {
	const struct regs *regs;
	const struct regs *entry; /* at the first instruction of a function; NULL: it is not */
	uint64_t place;		  /* frames with a stack pointer that is not above are left out */
};

void raw_stack_init(struct raw_stack *stack);
void raw_stack_deinit(struct raw_stack *stack);

/* Returns false if no description is for the thread's word size. */
bool raw_stack_has_scripts(const struct thread *thread);
/*
 * Walks up to `room` script frames of each machine of the thread's process, RAW_FRAMES_MAX at most.
 * `library` NULL: there are none.
 */
void raw_stack_walk_scripts(struct raw_stack *stack, struct target *target,
			    const struct script_library *library, struct thread *thread,
			    const struct regs *regs, size_t room);
/* Walks up to `room` native frames. */
void raw_stack_walk_native(struct raw_stack *stack, struct thread *thread,
			   const struct stack_start *start, size_t room);

#endif
