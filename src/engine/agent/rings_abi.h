/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C types that the tracer shares with the agent's code that makes records
 * (sysdeps/x86_64/agent_record.c), in addition to the numbers in agent_abi.h.
 *
 * Records in a ring have to be short: their cache lines are owned by the processor that runs the
 * tracer, and have to be fetched back one by one. So a record in a ring has a shorter head than a
 * struct record; its values have the same layout.
 */
#ifndef TRACER_ENGINE_AGENT_RINGS_ABI_H
#define TRACER_ENGINE_AGENT_RINGS_ABI_H

#include "engine/agent/agent_abi.h"
#include "record/capture.h"

#include <assert.h>

/*
 * A ring has one writer, its thread, and one reader, the tracer. Positions count bytes since the
 * ring was made; modulo AGENT_RING_BYTES they are offsets in the ring.
 */
struct ring_thread {
	uint64_t base;	  /* fs; 0: free */
	uint64_t head;	  /* end of what was written */
	uint64_t busy;	  /* not 0: the thread is making a record */
	uint64_t dropped; /* calls without a record, as there was no room */
	uint64_t ring;	  /* address of the ring; its stack is behind it */
	uint64_t free_to; /* up to this position all is read, and the ring does not end */
	uint64_t random;  /* --sample: the state of the thread's random numbers */
	/*
	 * --sample: where the return address of a call is that was chosen, but has no record yet,
	 * since the tracer is asked first; 0: there is none.
	 */
	uint64_t chosen;
	uint64_t tail; /* end of what was read; written by the tracer */
	uint64_t unused_too[7];
};
static_assert(sizeof(struct ring_thread) == AGENT_THREAD, "shared layout");
static_assert(sizeof(struct capture_saved) <= AGENT_SAVED_BYTES, "shared layout");

/* The head of a record in a ring. */
struct ring_record {
	uint8_t head[8]; /* as in a struct record: size, version, kind, number of values */
	uint16_t unit;	 /* index in the space */
	uint16_t probe;	 /* number in the unit */
	uint16_t slot;	 /* number of the return trampoline */
	/* Only in a RECORD_CALL: index in agent_scripts.frames, plus 1, of its line; 0: none. */
	uint16_t line;
	uint64_t time;		 /* agent_clock(): when the function began to run, or returned */
	uint64_t place;		 /* stack address of the return address */
	uint64_t return_address; /* only in a RECORD_CALL */
};
enum {
	RING_CALL = sizeof(struct ring_record),
	RING_RETURN = offsetof(struct ring_record, return_address)
};
static_assert(offsetof(struct ring_record, unit) == offsetof(struct record, pid),
	      "begins like a record");
static_assert(AGENT_TRAMPOLINE_COUNT <= 1 << 16 && AGENT_PROBE_COUNT <= 1 << 16, "numbers fit");

/* A probe's plan; its pointers are addresses in the tracee. */
struct agent_plan {
	uint32_t entry_max, exit_max; /* bytes of the longest records that it makes */
	/*
	 * Texts may be longer than in the plan here: if something is cut, the tracer makes the
	 * record.
	 */
	uint64_t is_limited;
	struct capture_plan plan;
};

/* The index of a thread's first possible entry in the table. */
static inline uint32_t agent_thread_hash(uint64_t base)
{
	return ((uint32_t)(base >> 6) * (uint32_t)AGENT_HASH) >> (32 - AGENT_THREAD_BITS);
}

/*
 * The home of a return address at `place`; if it is taken, trampolines behind the homes are tried,
 * from the same offset on. agent_entry.S has a copy of this function. The calls of one thread are
 * close to each other on its stack, and calls of different threads often have the same offset in
 * their stacks, which may be 64 KiB, 1 MiB or 8 MiB apart.
 */
static inline uint32_t agent_trampoline_hash(uint64_t place)
{
	const uint32_t piece = (uint32_t)(place >> AGENT_HOME_PIECE) * (uint32_t)AGENT_HASH;

	return ((uint32_t)(place >> 4) + (piece >> (32 - AGENT_HOME_BITS))) &
	       (AGENT_HOME_COUNT - 1);
}

#endif
