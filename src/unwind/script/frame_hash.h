/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash of a script frame that is found by a walk. Freestanding: the agent has it, too. */
#ifndef TRACER_UNWIND_SCRIPT_FRAME_HASH_H
#define TRACER_UNWIND_SCRIPT_FRAME_HASH_H

#include "unwind/script/program.h"

/* Depends on what tells the line and the function: all words but `entry`. */
static inline uint64_t script_frame_hash(const struct raw_frame *frame)
{
	uint64_t hash = frame->code;

	hash = (hash ^ frame->position) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29;
	hash = (hash ^ frame->identity[0]) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29;
	hash = (hash ^ frame->identity[1]) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29;
	hash = (hash ^ frame->identity[2]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

#endif
