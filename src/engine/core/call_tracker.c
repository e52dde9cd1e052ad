/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes the records of calls, whichever engine caught them, and times the calls.
 *
 * Time. A stop costs the tracee far more than most calls take, so the durations shown must not
 * contain it. The clock is read as the last action before the thread is resumed from the entry
 * stop, and as the first action after wait(2) has reported the return stop. Between these two lie
 * the call and the kernel's part of stopping and resuming (`overhead`, measured at start on a
 * child of the tracer). For nested calls, thread->calls->cost adds up the cost of every stop of the
 * thread: the tracer's work plus the overhead. A call's duration is reduced by what was added
 * while the call was pending. The estimate of the overhead follows its changes (overhead.c).
 *
 * A process that records its calls itself takes the times without a stop. Only the stops of other
 * calls inside are then taken off.
 *
 * The stops inside are not taken off where the call has waited for longer than they took: what it
 * waits for, a server's answer, say, mostly goes on during the stops, and a query would be shown as
 * shorter than the server has worked for it.
 */
#include "engine/core/call_tracker.h"

#include "base/xalloc.h"
#include "engine/core/stackset.h"
#include "engine/core/stackview.h"
#include "engine/core/thread_calls.h"
#include "tracee/clock.h"
#include "tracee/proc.h"

#include <stdlib.h>

enum {
	RECORD_BYTES = 65536,
	FIRST_CALLS = 64,
	ONE_CALL_IN = 16,
	ASKING_NS = 10000,
	LONG_NS = 20000
};

struct call_tracker {
	const struct engine_events *events;
	struct overhead overhead;
	uint64_t processor;    /* stop_costs.processor */
	bool is_off;	       /* the estimate, by the call that was looked at last */
	struct vec are_long;   /* bool, by probe: its last call was long (LONG_NS) */
	uint64_t entered;      /* calls by breakpoints */
	uint64_t calls;	       /* last call number assigned */
	unsigned char *buffer; /* the record under construction */
};

struct call_tracker *call_tracker_create(const struct engine_events *events,
					 struct stop_costs costs)
{
	struct call_tracker *tracker = xcalloc(1, sizeof *tracker);

	tracker->events = events;
	overhead_init(&tracker->overhead, costs.pair);
	tracker->processor = costs.processor;
	tracker->are_long = (struct vec)VEC_OF(bool);
	tracker->buffer = xmalloc(RECORD_BYTES);
	return tracker;
}

void call_tracker_destroy(struct call_tracker *tracker)
{
	if (!tracker)
		return;
	vec_deinit(&tracker->are_long);
	free(tracker->buffer);
	free(tracker);
}

const struct engine_events *call_tracker_events(const struct call_tracker *tracker)
{
	return tracker->events;
}

uint64_t call_tracker_number(struct call_tracker *tracker)
{
	return ++tracker->calls;
}

struct callstacks *call_tracker_calls(struct thread *thread)
{
	if (!thread->calls->stacks)
		thread->calls->stacks = callstacks_create(&stackview_thread, thread);
	return thread->calls->stacks;
}

/* ------------------------------------------------------------------ records */

/* Fills in the members that each record of a call has; values and their count stay. */
static void fill(struct record *record, const struct call_event *event, enum record_kind kind,
		 const struct call *call)
{
	const struct thread *thread = event->thread;

	record->version = RECORD_VERSION;
	record->kind = (uint8_t)kind;
	record->pid = thread->process->pid;
	record->tid = call->tid ? call->tid : thread->tid;
	record->probe = call->site->info->id;
	record->depth = call->depth;
	record->call = call->number;
	record->time = event->wall ? event->wall : clock_wall_of_event(thread->process->tracees);
	record->pc = call->origin;
	record->stack = call->stack;
	record->number = 0;
	if (kind == RECORD_RETURN)
		record->number = call->inherited      ? RECORD_INHERITED
				 : call->since_attach ? RECORD_SINCE_ATTACH
						      : event->error;
}

static bool has_values(const struct capture_plan *plan, enum record_kind kind)
{
	return kind == RECORD_CALL ? plan->entry_count || plan->needs_saved
				   : kind == RECORD_RETURN && plan->exit_count;
}

void call_tracker_emit(struct call_event *event, enum record_kind kind, const struct call *call,
		       uint64_t duration)
{
	struct call_tracker *tracker = event->tracker;
	struct capture_buffer buffer = {tracker->buffer, RECORD_BYTES};
	struct record *record = (struct record *)(void *)tracker->buffer;
	const bool is_ready = event->ready && kind != RECORD_UNWOUND;

	if (is_ready)
		record = event->ready;
	else
		*record = (struct record){.size = sizeof *record};
	fill(record, event, kind, call);
	record->duration = duration;
	if (is_ready)
		event->ready = NULL;
	else if (has_values(call->site->plan, kind))
		event->capture(event, kind, call, &buffer);
	tracker->events->record(tracker->events->context, record);
}

/* ------------------------------------------------------------------ entry and end */

uint32_t call_tracker_stack(const struct call_tracker *tracker, struct thread *thread,
			    const struct regs *entry)
{
	const struct engine_events *events = tracker->events;

	return events->stack ? events->stack(events->context, thread, entry) : 0;
}

struct call *call_tracker_enter(struct call_event *event, struct callstacks *stacks,
				const struct call *call)
{
	struct call made = *call;

	if (made.site)
		made.number = call_tracker_number(event->tracker);
	if (made.site && made.site->plan->needs_saved && !made.in_process)
		made.saved = xcalloc(1, sizeof *made.saved);
	if (made.site && !made.in_process)
		made.stack = call_tracker_stack(event->tracker, event->thread, event->entry);
	event->thread->calls->events = event->tracker->events;
	struct call *pushed = callstacks_push(stacks, &made, call_tracker_popped, event);

	if (pushed->site)
		call_tracker_emit(event, RECORD_CALL, pushed, 0);
	return pushed;
}

/*
 * A call takes at least as long as the calls inside it, as these are shown: what is taken off for
 * the stops inside is an estimate. Calls that change threads are not compared.
 */
static uint64_t shown_duration(const struct call_event *event, const struct call *call)
{
	struct thread_calls *calls = event->thread->calls;
	const uint64_t duration = call_tracker_duration(event, call);

	if (event->cost != &calls->cost || call->tid || call->inherited)
		return duration;
	const uint64_t inside = calls->shown > call->shown ? calls->shown - call->shown : 0;
	const uint64_t shown = duration > inside ? duration : inside;

	calls->shown = call->shown + shown;
	return shown;
}

void call_tracker_popped(void *context, const struct call *call, bool returned)
{
	struct call_event *event = context;

	event->thread->syscall_stops -= call->interrupted;
	event->owed += call->owed;
	if (call->hook && call->hook->returned && returned)
		call->hook->returned(call->hook, event->thread, event->result);
	if (!call->site)
		return;
	if (returned && (event->ready || event->capture))
		call_tracker_emit(event, RECORD_RETURN, call, shown_duration(event, call));
	else
		call_tracker_emit(event, RECORD_UNWOUND, call, 0);
}

/* ------------------------------------------------------------------ time */

/* Keeps whether a function's call was long, without the stops inside. */
static void note_length(struct call_tracker *tracker, const struct call *call, uint64_t took)
{
	const uint32_t id = call->site->info->id;
	const bool is_long = took > tracker->overhead.now + LONG_NS;

	if (!is_long && id >= tracker->are_long.count)
		return;
	while (tracker->are_long.count <= id)
		vec_push(&tracker->are_long, &(bool){false});
	*(bool *)vec_at(&tracker->are_long, id) = is_long;
}

static bool was_long(const struct call_tracker *tracker, const struct call *call)
{
	const size_t id = call->site ? call->site->info->id : SIZE_MAX;

	return id < tracker->are_long.count && *(bool *)vec_at(&tracker->are_long, id);
}

/*
 * Each of the first calls is looked at, and then one in some: to ask the kernel takes a fifth of a
 * pair of stops. All calls are looked at where pairs differ by more than that, or the function's
 * last call was long; and when pairs have become shorter or longer, as when tracer and tracee
 * change processors: the estimate follows slowly, but the time of a call that was looked at is
 * known without it.
 */
static bool is_looked_at(struct call_tracker *tracker, const struct call *call)
{
	const struct overhead *overhead = &tracker->overhead;
	const uint64_t number = tracker->entered++;

	return tracker->processor &&
	       (number < FIRST_CALLS || number % ONE_CALL_IN == 0 || tracker->is_off ||
		overhead->now > overhead->middle + ASKING_NS || was_long(tracker, call));
}

/* What a call has taken, ns, as far as that is known. */
struct bounds {
	uint64_t least, most;
};

/*
 * Learns what the stops have added to a call without stops inside. The call has taken at least as
 * long as it had a processor, and not longer if it had one all the time. Between its turns it has
 * slept, or waited for a processor: as much of the rest of the time is the call's as turns are not
 * begun by the stop at its entry.
 */
static struct bounds learn(const struct call_event *event, const struct call *call, uint64_t raw)
{
	struct call_tracker *tracker = event->tracker;
	struct bounds bounds = {0, raw};

	if (!tracker->processor) {
		overhead_learn(&tracker->overhead, raw);
		return bounds;
	}
	if (!call->ran.turns || call->tid || call->inherited)
		return bounds;
	const struct proc_runs runs = proc_runs(event->thread->tid);
	const uint64_t had = runs.ns > call->ran.ns ? runs.ns - call->ran.ns : 0;
	const uint64_t own = had > tracker->processor ? had - tracker->processor : 0;
	const uint64_t turns = runs.turns - call->ran.turns;

	tracker->is_off = false;
	if (turns == 1) {
		const uint64_t added = raw > own ? raw - own : 0, now = tracker->overhead.now;

		tracker->is_off = added + ASKING_NS < now || added > now + ASKING_NS;
		overhead_learn(&tracker->overhead,
			       overhead_unhindered(added, runs.waited - call->ran.waited));
		bounds.most = own + tracker->processor;
	}
	/* The share of the stops is twice as long now and then. */
	if (own > tracker->processor && own < raw)
		bounds.least = own - tracker->processor;
	if (turns > 1 && had < raw)
		bounds.least += (raw - had) / turns * (turns - 1);
	return bounds;
}

/*
 * Returns true if a call with stops inside has waited for longer than they took. `raw`: from its
 * entry to its end, with the stops.
 */
static bool has_waited(const struct call_event *event, const struct call *call, uint64_t raw,
		       uint64_t inner)
{
	if (!call->ran.turns || call->tid || call->inherited)
		return false;
	const struct proc_runs runs = proc_runs(event->thread->tid);
	const uint64_t busy = runs.ns - call->ran.ns + runs.waited - call->ran.waited;

	return runs.ns >= call->ran.ns && raw > busy + 2 * inner + event->tracker->overhead.now;
}

uint64_t call_tracker_duration(const struct call_event *event, const struct call *call)
{
	struct overhead *overhead = &event->tracker->overhead;
	const uint64_t raw = event->time > call->start ? event->time - call->start : 0;
	const uint64_t inner = *event->cost - call->cost;
	const uint64_t without = raw > inner ? raw - inner : 0;
	struct bounds bounds = {0, raw};
	uint64_t stops = inner;

	if (event->timing == TIMED_IN_PROCESS)
		return without;
	if (event->timing == TIMED_BY_BREAKPOINTS) {
		note_length(event->tracker, call, without);
		if (!inner)
			bounds = learn(event, call, raw);
		else if (has_waited(event, call, raw, inner))
			stops = 0;
	}
	const uint64_t duration = overhead_take_off(overhead, raw, stops);

	if (duration > bounds.most)
		return bounds.most;
	return duration > bounds.least ? duration : bounds.least;
}

void call_tracker_resume(struct call_event *event, uint64_t sp, struct call *entered)
{
	struct call_tracker *tracker = event->tracker;
	const struct engine_events *events = tracker->events;
	struct thread *thread = event->thread;
	const struct space *space = thread->process->space;
	const uint64_t overhead = tracker->overhead.middle;

	if (!entered && space && events->delayed)
		events->delayed(events->context, thread, sp, event->time - event->owed, overhead);
	if (entered && event->timing == TIMED_BY_BREAKPOINTS && is_looked_at(tracker, entered))
		entered->ran = proc_runs(thread->tid);
	const uint64_t now = clock_now();
	const uint64_t took = now - event->time + overhead;

	thread->calls->cost += took;
	if (event->cost != &thread->calls->cost)
		*event->cost += took;
	if (!entered)
		return;
	entered->owed = event->owed + took;
	entered->cost = *event->cost;
	entered->shown = thread->calls->shown;
	entered->start = now;
}
