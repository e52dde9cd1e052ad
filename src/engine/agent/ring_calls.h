/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports the records of rings to the call tracker. These calls cause no stop: the process records
 * them, and the tracer learns of them when it reads the rings. They become pending calls next to
 * those of the trap engine, so that nesting depths are right, and so that what is learned about a
 * thread's stack applies to them, too.
 */
#ifndef TRACER_ENGINE_AGENT_RING_CALLS_H
#define TRACER_ENGINE_AGENT_RING_CALLS_H

#include "engine/agent/agent_state.h"
#include "engine/agent/rings_abi.h"

/* When a record was made. */
struct ring_moment {
	uint64_t batch; /* number of this batch of records: not 0, different from earlier ones */
	uint64_t time;	/* clock_now() when the function itself began or returned */
	uint64_t wall;	/* the same, in ns since the Epoch */
};

/*
 * Reports one record of the thread's ring: `record` has its size and values, and is completed and
 * emitted here. Invalid records are dropped, and returns of calls that are not known to be pending.
 * To be called before the thread's next stop is handled.
 */
void ring_calls_report(struct agent *agent, struct thread *thread, const struct ring_moment *moment,
		       const struct ring_record *head, struct record *record);

#endif
