/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a unit that exceptions need, at AGENT_UNWINDING: shared by the code in the tracee
 * (sysdeps/x86_64/agent_unwind.c) and the tracer. Private to the process.
 *
 * While a thread unwinds its stack, the return addresses on it have to be the true ones. When the
 * thread enters an unwinder, it *lifts* the return trampolines off its stack. When the unwinder has
 * selected the frame to continue in, the thread puts back the trampolines above that frame. The
 * calls below were left.
 */
#ifndef TRACER_ENGINE_AGENT_UNWINDING_ABI_H
#define TRACER_ENGINE_AGENT_UNWINDING_ABI_H

#include "engine/agent/agent_abi.h"

#include <assert.h>
#include <stdint.h>

enum {
	UNWINDING_UNITS = 12,
	UNWINDING_GROUPS = 4,
	UNWINDING_LIFTS = 56,
	UNWINDING_TRIES = 8,
};

struct unwinding_head {
	uint64_t on; /* 0: each unwinder stops */
	/* Where a frame's CFA is in the _Unwind_Context that a personality routine gets. */
	uint64_t cfa_offset;
	/* The code of _Unwind_Resume_or_Rethrow(), which calls another unwinder of libgcc. */
	uint64_t outer_low, outer_high;
	uint64_t unit_count;
	uint64_t units[UNWINDING_UNITS]; /* their base addresses */
};

/* A return trampoline that was taken off the stack word at `place`. */
struct unwinding_lift {
	uint64_t place, stub;
};

/*
 * The lifts of one unwinder, which was entered with the stack pointer `sp`: from index `first` on.
 */
struct unwinding_group {
	uint64_t sp, first;
};

struct unwinding_thread {
	uint64_t base;	    /* fs; 0: free */
	uint64_t low, high; /* its stack */
	uint64_t busy;	    /* the thread is changing the members below */
	uint64_t group_count, count;
	struct unwinding_group groups[UNWINDING_GROUPS]; /* nested */
	struct unwinding_lift lifts[UNWINDING_LIFTS];
};

enum { UNWINDING_ENTRY = 1024, UNWINDING_THREADS = AGENT_UNWINDING_BYTES / UNWINDING_ENTRY - 1 };
static_assert(sizeof(struct unwinding_thread) <= UNWINDING_ENTRY, "room of a thread");
static_assert(sizeof(struct unwinding_head) <= UNWINDING_ENTRY, "room of the head");

/* The index of a thread's first possible entry; the next ones follow, modulo UNWINDING_THREADS. */
static inline uint32_t unwinding_hash(uint64_t base)
{
	return ((uint32_t)(base >> 6) * (uint32_t)AGENT_HASH >> 8) % UNWINDING_THREADS;
}

/* The offset of an entry from AGENT_UNWINDING. */
static inline uint64_t unwinding_offset(uint32_t number)
{
	return (1 + (uint64_t)(number % UNWINDING_THREADS)) * UNWINDING_ENTRY;
}

#endif
