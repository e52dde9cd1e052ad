/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash of a whole stack, made frame by frame: of the script frames of all machines, and then of
 * the native frames, each from the innermost one outward. Freestanding: the agent has it, too.
 */
#ifndef TRACER_UNWIND_STACK_HASH_H
#define TRACER_UNWIND_STACK_HASH_H

#include "unwind/script/frame_hash.h"

static inline uint64_t stack_hash_add(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Stacks of one process have different hashes where `epoch` is different. */
static inline uint64_t stack_hash_begin(uint64_t epoch)
{
	return stack_hash_add(UINT64_C(0x243f6a8885a308d3), epoch);
}

/* `entry` tells where the frame is among the native ones, so it is part of the stack. */
static inline uint64_t stack_hash_script(uint64_t hash, const struct raw_frame *frame)
{
	return stack_hash_add(hash, script_frame_hash(frame) + (frame->entry != 0));
}

static inline uint64_t stack_hash_native(uint64_t hash, uint64_t pc)
{
	return stack_hash_add(hash, ~pc);
}

#endif
