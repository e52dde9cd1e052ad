/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tracker makes the records of calls: of their entry, their return, and their end without
 * a return. It numbers the calls and takes the tracer's own time off their durations.
 *
 * An engine describes what it has learned as a struct call_event: a stop at a breakpoint, a record
 * of a ring, a stop at a system call. It then calls call_tracker_enter() for a call that begins, or
 * one of the functions of callstack.h with call_tracker_popped() for calls that end. All events of
 * a thread must be reported in the order in which they happened.
 */
#ifndef TRACER_ENGINE_CORE_CALL_TRACKER_H
#define TRACER_ENGINE_CORE_CALL_TRACKER_H

#include "engine/core/callstack.h"
#include "engine/core/engine.h"
#include "engine/core/overhead.h"

struct call_tracker;

/*
 * `events` must outlive the tracker. `costs`: what stops add to the time between entry and return,
 * as measured at start; zeros: nothing is taken off.
 */
struct call_tracker *call_tracker_create(const struct engine_events *events,
					 struct stop_costs costs);
void call_tracker_destroy(struct call_tracker *tracker);

const struct engine_events *call_tracker_events(const struct call_tracker *tracker);

/* What is taken off the time between a call's entry and its return. Each includes those above. */
enum call_timing {
	TIMED_IN_PROCESS, /* the stops during the call; the process has taken both times itself */
	TIMED_BY_STOPS,	  /* a pair of stops */
	/* a pair of stops at breakpoints: the estimate of its cost follows this call */
	TIMED_BY_BREAKPOINTS
};

struct call_event;

/*
 * Appends the values of a call to the record in `buffer`. `kind` is RECORD_CALL or RECORD_RETURN;
 * the call's plan has values of that kind, or saves some at entry (plan.needs_saved).
 */
typedef void call_capture(const struct call_event *event, enum record_kind kind,
			  const struct call *call, struct capture_buffer *buffer);

struct call_event {
	struct call_tracker *tracker;
	struct thread *thread;
	uint64_t time; /* when it happened, clock_now(): the end of the calls that return */
	uint64_t wall; /* the same in ns since the Epoch; 0: the time of the present stop */
	enum call_timing timing;
	/* Ns that stops took so far: of the thread, or of the goroutine that it runs. */
	uint64_t *cost;
	/*
	 * Where the values come from: `ready` is a record of one call that has its size and its
	 * values already, or else NULL. Otherwise `capture` reads them, with `source` for its use.
	 */
	struct record *ready;
	call_capture *capture;
	void *source;
	/* The thread's registers at the first instruction of a function; NULL: not known. */
	const struct regs *entry;
	int64_t error;	 /* record.number of a return, unless the call was inherited */
	uint64_t result; /* what a function returns, for hook.returned */
	uint64_t owed;	 /* sum of call.owed of the calls that ended so far */
};

/* A number for the next call. call_tracker_enter() asks for it by itself. */
uint64_t call_tracker_number(struct call_tracker *tracker);

/*
 * Returns the number of the stopped thread's stack for a call that it makes: record.stack.
 * `entry`: see engine_events.stack.
 */
uint32_t call_tracker_stack(const struct call_tracker *tracker, struct thread *thread,
			    const struct regs *entry);

/* Returns the thread's pending calls; creates them if there are none so far. */
struct callstacks *call_tracker_calls(struct thread *thread);

/*
 * A copy of `call` is pushed on `stacks`. If it has a site it gets a number and room for the values
 * that its plan saves, and its record is emitted. Returns the copy, valid until the next change.
 */
struct call *call_tracker_enter(struct call_event *event, struct callstacks *stacks,
				const struct call *call);

/*
 * A call_popped function, whose `context` is a struct call_event: emits the record of the call's
 * end, or calls its hook. Where the event has a ready record, that is used for the first call that
 * has returned.
 */
void call_tracker_popped(void *context, const struct call *call, bool returned);

/* Completes and emits a record of `call`. `duration` in ns; 0 if the call has not returned. */
void call_tracker_emit(struct call_event *event, enum record_kind kind, const struct call *call,
		       uint64_t duration);

/* The duration in ns of a call that returns at the event. */
uint64_t call_tracker_duration(const struct call_event *event, const struct call *call);

/*
 * The stop that began at event->time has been handled, and the thread is about to be resumed with
 * its stack pointer at `sp`: keeps the cost of the stop out of all durations. `entered` is the
 * pending call that began at this stop, or NULL. Its time begins now, and it keeps the stop's cost
 * in call.owed: the report at its return then covers both stops. Engines that time calls by
 * themselves are told then (engine_events.delayed), and find the calls around this one on the
 * stack.
 */
void call_tracker_resume(struct call_event *event, uint64_t sp, struct call *entered);

#endif
