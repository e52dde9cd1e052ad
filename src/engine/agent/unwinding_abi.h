/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a unit has for exceptions, at AGENT_UNWINDING: shared by the code that runs in the tracee
 * (sysdeps/x86_64/agent_unwind.c) and the tracer. Private to the process.
 *
 * While a thread unwinds its stack, the return addresses on it have to be the true ones. Where an
 * unwinder begins, the thread *lifts* the stubs off its stack; where the unwinder has decided to go
 * on with a frame, it puts those back that are above that frame. What is below was left.
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
	/* Of a frame's CFA in what describes the frame to a personality routine. */
	uint64_t cfa_offset;
	/* The unwinder of libgcc's that calls another one: _Unwind_Resume_or_Rethrow(). */
	uint64_t outer_low, outer_high;
	uint64_t unit_count;
	uint64_t units[UNWINDING_UNITS]; /* where they begin */
};

/* A stub that was taken off the stack. */
struct unwinding_lift {
	uint64_t place, stub;
};

/* Those of one unwinder, which has been entered with its return address at `sp`. */
struct unwinding_group {
	uint64_t sp, first;
};

struct unwinding_thread {
	uint64_t base;	    /* fs; 0: free */
	uint64_t low, high; /* its stack */
	uint64_t busy;	    /* it is changing what follows */
	uint64_t group_count, count;
	struct unwinding_group groups[UNWINDING_GROUPS]; /* one within the other */
	struct unwinding_lift lifts[UNWINDING_LIFTS];
};

enum { UNWINDING_ENTRY = 1024, UNWINDING_THREADS = AGENT_UNWINDING_BYTES / UNWINDING_ENTRY - 1 };
static_assert(sizeof(struct unwinding_thread) <= UNWINDING_ENTRY, "room of a thread");
static_assert(sizeof(struct unwinding_head) <= UNWINDING_ENTRY, "room of the head");

/* The first entry that a thread may have; the next ones follow, modulo UNWINDING_THREADS. */
static inline uint32_t unwinding_hash(uint64_t base)
{
	return ((uint32_t)(base >> 6) * (uint32_t)AGENT_HASH >> 8) % UNWINDING_THREADS;
}

/* Where entries are, from AGENT_UNWINDING on. */
static inline uint64_t unwinding_offset(uint32_t number)
{
	return (1 + (uint64_t)(number % UNWINDING_THREADS)) * UNWINDING_ENTRY;
}

#endif
