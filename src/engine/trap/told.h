/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that nobody stopped for: the process has made a record of them itself (engine/agent), and
 * tells later. They are pending among those that the trap engine sees, so nesting is right, and
 * what it learns of a thread's stack holds for them, too. All that happened in a thread must be
 * told in its order, and before its next stop is served.
 */
#ifndef TRACER_ENGINE_TRAP_TOLD_H
#define TRACER_ENGINE_TRAP_TOLD_H

#include "engine/trap/callstack.h"
#include "engine/trap/trap.h"

/* What is said of a call in each of its records; `values` and the rest are the caller's. */
void call_record_fill(struct record *record, enum record_kind kind, const struct thread *thread,
		      const struct call *call, uint64_t time);

struct told {
	const struct probe_site *site;
	uint64_t entry;		 /* of the function */
	uint64_t place;		 /* where on the stack its return address was */
	uint64_t stub;		 /* what stands there instead */
	uint64_t return_address; /* what was there */
	uint64_t moment; /* when this is told: not 0, another one for what was told earlier */
	uint64_t time;	 /* ns since the Epoch */
	/* As inferior_clock(): when the function itself began, or when it returned. */
	uint64_t clock;
};

/* `record` has its size and its values, and is completed and handed on. */
void trap_told_call(struct trap *trap, struct thread *thread, const struct told *told,
		    struct record *record);
/* The same of its return; nothing happens where it is not known to be pending. */
void trap_told_return(struct trap *trap, struct thread *thread, const struct told *told,
		      struct record *record);
/*
 * The true return address of a call that was told is there again: whether it was pending, and its
 * return will be seen. `saved` is what the process has kept of its entry, or NULL.
 */
bool trap_untold(struct trap *trap, struct thread *thread, const struct told *told,
		 const struct capture_saved *saved);

/* trap.c, for told.c and engine/syscall */
uint64_t trap_number_call(struct trap *trap);
const struct engine_events *trap_events(const struct trap *trap);
/* The own time of a call: see overhead_take_off(). */
uint64_t trap_time_of_call(const struct trap *trap, uint64_t raw, uint64_t inner);
/* What the kernel's part of a stop costs the thread, ns. */
uint64_t trap_cost_of_stop(const struct trap *trap);
/*
 * `thread` goes on next, with its stack pointer at `sp`, after a stop of `time`: tells other
 * engines what that took. A stop at which a call is pushed may leave this to that call's return
 * (call.owed), as it finds the calls around on the stack; as if that stop had been so much earlier.
 */
void trap_delayed(const struct trap *trap, struct thread *thread, uint64_t sp, uint64_t time);

#endif
