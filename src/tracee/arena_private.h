/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by arena.c, which keeps the books of an arena, and arena_map.c, which maps its memory. */
#ifndef TRACER_TRACEE_ARENA_PRIVATE_H
#define TRACER_TRACEE_ARENA_PRIVATE_H

#include "base/vec.h"
#include "tracee/arena.h"

enum { ARENA_XOL_SLOTS = ARENA_BYTES / ARENA_XOL_SLOT };

static const uint64_t REACH = UINT64_C(0x78000000); /* a bit less than 2 GiB */

struct block {
	uint64_t base;
	size_t used; /* slots handed out at least once */
	void **owners;
};

struct region {
	uint64_t base, length;
};

struct arena {
	struct vec regions;
	struct vec blocks;
	uint64_t low, high;    /* all blocks, present and former, are in [low, high) */
	struct vec free_slots; /* uint64_t */
};

static inline struct block *block_at(const struct arena *arena, size_t index)
{
	return vec_at(&arena->blocks, index);
}

static inline bool in_reach(uint64_t base, uint64_t address)
{
	uint64_t distance = base > address ? base - address : address - base;

	return distance < REACH;
}

#endif
