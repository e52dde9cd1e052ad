/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent's code that makes records (sysdeps/x86_64/agent_record.c) shares with the tracer, beyond the numbers in
 * agent_abi.h: as C types.
 *
 * A record in a ring is a struct record with its values, but that the process knows less than the tracer. In `probe`
 * is the probe's number in its unit, in `pid` the unit; `call` is the return slot; `number` the place on the stack where the
 * return address was; `pc` what stood there; `time` the clock's. Of a RECORD_CALL, `duration` is the clock's time when
 * the function itself began to run, of a RECORD_RETURN 0.
 */
#ifndef TRACER_ENGINE_AGENT_RINGS_ABI_H
#define TRACER_ENGINE_AGENT_RINGS_ABI_H

#include "engine/agent/agent_abi.h"
#include "record/capture.h"

#include <assert.h>

/* One writer, the thread, and one reader. Positions are bytes since the beginning; modulo AGENT_RING_BYTES they are places. */
struct agent_thread {
	uint64_t base; /* fs; 0: free */
	uint64_t head; /* written up to there */
	uint64_t busy; /* not 0: a time has been taken that is in no record yet */
	uint64_t unused[5];
	uint64_t tail; /* read up to there: the tracer's */
	uint64_t unused_too[7];
};
static_assert(sizeof(struct agent_thread) == AGENT_THREAD, "shared layout");
static_assert(sizeof(struct capture_saved) <= AGENT_SAVED_BYTES, "shared layout");

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

#endif
