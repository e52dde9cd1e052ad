/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that a thread has entered without a stop, and whose return will be one: the engine that
 * caught the entry gives the return to the trap engine.
 */
#ifndef TRACER_ENGINE_TRAP_RETURN_TAKEOVER_H
#define TRACER_ENGINE_TRAP_RETURN_TAKEOVER_H

#include "engine/core/engine.h"
#include "engine/trap/trap.h"

/* A call that the process would have recorded the return of: its return address is back. */
struct restored_return {
	uint64_t place;		 /* address of the stack word with the return address */
	uint64_t stub;		 /* address of the return trampoline that was there instead */
	uint64_t return_address; /* what is there now */
	/* What the process has kept from the call's entry, or NULL. */
	const struct capture_saved *saved;
};

/* Plants a return breakpoint for the call. Does nothing if the call is not pending. */
void trap_return_restored(struct trap *trap, struct thread *thread,
			  const struct restored_return *restored);

/*
 * A call whose entry was not a stop: the address of the stack word with its return address, that
 * return address, and its start time (clock_now()).
 */
struct running_call {
	uint64_t place, return_address, start;
	const struct probe_site *site;
	/* For trap_begin_running(): address of the breakpoint; number of the stack or 0. */
	uint64_t entry;
	uint32_t stack;
};

/*
 * Plants the return breakpoint of a call that the stopped thread has entered without a stop, and
 * makes it pending. No record has been made of the call so far.
 */
void trap_take_over(struct trap *trap, struct thread *thread, const struct running_call *running);

/*
 * For a call that was running when the process was attached to. trap_watch_running() plants its
 * return breakpoint; `stopped` is any stopped thread of the space. Returns 0, or -errno as
 * return_breakpoints_plant(). trap_begin_running() then makes the call of `thread`, which need not
 * be stopped, pending, and emits a RECORD_RUNNING; outer calls first. trap_is_pending(): the call
 * was entered since the breakpoint was planted, and is pending already.
 */
int trap_watch_running(struct trap *trap, struct thread *stopped,
		       const struct running_call *running);
bool trap_is_pending(struct thread *thread, const struct running_call *running);
void trap_begin_running(struct trap *trap, struct thread *thread,
			const struct running_call *running);

#endif
