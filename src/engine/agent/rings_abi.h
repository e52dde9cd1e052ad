/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent's code that makes records (sysdeps/x86_64/agent_record.c) shares with the tracer,
 * beyond the numbers in agent_abi.h: as C types.
 *
 * What is written for a call is to be short: its cache lines are with the processor that runs the
 * tracer, and have to be brought back one by one. So a record in a ring has a head of its own, and
 * values like any other's.
 */
#ifndef TRACER_ENGINE_AGENT_RINGS_ABI_H
#define TRACER_ENGINE_AGENT_RINGS_ABI_H

#include "engine/agent/agent_abi.h"
#include "record/capture.h"

#include <assert.h>

/*
 * One writer, the thread, and one reader. Positions are bytes since the beginning; modulo
 * AGENT_RING_BYTES they are places.
 */
struct agent_thread {
	uint64_t base;	  /* fs; 0: free */
	uint64_t head;	  /* written up to there */
	uint64_t busy;	  /* not 0: a time has been taken that is in no record yet */
	uint64_t dropped; /* calls that are in no record, as there was no room */
	uint64_t ring;	  /* where that is, its stack behind it */
	uint64_t free_to; /* up to there nothing is left to be read, nor the end of the ring */
	uint64_t unused[2];
	uint64_t tail; /* read up to there: the tracer's */
	uint64_t unused_too[7];
};
static_assert(sizeof(struct agent_thread) == AGENT_THREAD, "shared layout");
static_assert(sizeof(struct capture_saved) <= AGENT_SAVED_BYTES, "shared layout");

/* The head of a record, in a ring. */
struct ring_record {
	uint8_t head[8]; /* as in a struct record: size, version, kind, number of values */
	uint16_t unit;	 /* of the space's */
	uint16_t probe;	 /* of the unit's */
	uint16_t slot;	 /* where the return goes by */
	uint16_t unused;
	uint64_t time; /* the clock's: when the function itself began to run, or when it returned */
	uint64_t place;		 /* on the stack, where the return address was */
	uint64_t return_address; /* only of a RECORD_CALL */
};
enum {
	RING_CALL = sizeof(struct ring_record),
	RING_RETURN = offsetof(struct ring_record, return_address)
};
static_assert(offsetof(struct ring_record, unit) == offsetof(struct record, pid),
	      "begins like a record");
static_assert(AGENT_SLOT_COUNT <= 1 << 16 && AGENT_PROBE_COUNT <= 1 << 16, "numbers fit");

/* A probe's plan, its pointers those of the tracee. */
struct agent_plan {
	uint32_t entry_max, exit_max; /* bytes of the longest records that it makes */
	struct capture_plan plan;
};

/* Where a thread's entry in the table is looked for first. */
static inline uint32_t agent_thread_hash(uint64_t base)
{
	return ((uint32_t)(base >> 6) * (uint32_t)AGENT_HASH) >> (32 - AGENT_THREAD_BITS);
}

/*
 * The home slot of a return address at `place`; from the same place on, behind the homes, others
 * are tried. agent_entry.S has its own copy. Calls of one thread lie close to each other, and those
 * of another at the same distance from the beginning of its stack; stacks may be 64 KiB apart, a
 * MiB, or 8.
 */
static inline uint32_t agent_slot_hash(uint64_t place)
{
	const uint32_t piece = (uint32_t)(place >> AGENT_HOME_PIECE) * (uint32_t)AGENT_HASH;

	return ((uint32_t)(place >> 4) + (piece >> (32 - AGENT_HOME_BITS))) &
	       (AGENT_HOME_COUNT - 1);
}

#endif
