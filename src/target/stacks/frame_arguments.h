/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arguments of the calls whose frames are on a stack: see frame_arguments.c. */
#ifndef TRACER_TARGET_STACKS_FRAME_ARGUMENTS_H
#define TRACER_TARGET_STACKS_FRAME_ARGUMENTS_H

#include "target/target_state.h"
#include "unwind/unwind_walk.h"

/*
 * Returns the calls that frame `index` stands for, of `count` frames that the last
 * native_stacks_walk() of `thread` has found: a line for each that has a prototype and arguments
 * that are known, NAME(ARGUMENT, …), the innermost first, separated by newlines, with all else
 * escaped; to be freed. NULL: there is none.
 */
char *frame_arguments_text(struct target *target, struct thread *thread,
			   const struct unwind_frame *frames, size_t count, size_t index);

#endif
