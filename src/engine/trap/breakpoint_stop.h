/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a stop that the trap engine handles, shared by trap.c and breakpoint_stop.c. */
#ifndef TRACER_ENGINE_TRAP_BREAKPOINT_STOP_H
#define TRACER_ENGINE_TRAP_BREAKPOINT_STOP_H

#include "engine/core/call_tracker.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/trap.h"

struct trap {
	struct call_tracker *tracker;
	const struct engine_events *events; /* the tracker's */
	struct decoder *decoder;
	uint64_t stops;
	uint64_t random; /* record/sampling.h */
};

/* A stop that is being handled. */
struct breakpoint_stop {
	struct trap *trap;
	struct thread *thread;
	struct space *space;
	struct regs regs;
	uint64_t address; /* of the breakpoint instruction */
	/* The tracer's breakpoint there, or NULL: see breakpoint_of(), trap.c. */
	struct breakpoint *breakpoint;
	uint64_t freed;		 /* traps->freed when it was looked up */
	struct call_event event; /* for the call tracker; its `source` is this stop */
	struct keeping kept;	 /* where the pending calls are kept */
	struct call *made;	 /* pushed at this stop; its start time is set last */
	bool redirected;	 /* hook.redirect returned true */
	bool fp_loaded;
	struct fp_regs fp;
};

/*
 * Handles a SIGTRAP stop at an address where the tracer has no breakpoint. Returns false if the
 * signal is the program's own and must be delivered to it.
 */
bool breakpoint_stop_not_ours(struct breakpoint_stop *stop);

#endif
