/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a ring becomes the entry or the return of a call: it is pushed on the thread's
 * pending calls, or pops one, and the call tracker completes its record.
 */
#include "engine/agent/ring_calls.h"

#include "engine/agent/script_lines.h"
#include "engine/core/call_tracker.h"
#include "engine/core/thread_calls.h"

static const struct agent_unit *unit_of(const struct space *space, size_t number)
{
	const struct vec *units = &space->agent->units;

	return number < units->count ? *(struct agent_unit **)vec_at(units, number) : NULL;
}

static void enter(struct call_event *event, struct callstacks *stacks,
		  const struct ring_record *head, const struct agent_unit *unit,
		  const struct agent_probe *probe, uint64_t stub)
{
	const struct call call = {.place = head->place,
				  .return_address = stub,
				  .caller = head->return_address,
				  .entry = probe->candidate.breakpoint,
				  .site = probe->site,
				  .in_process = true,
				  .stack = script_lines_stack(unit, head->line),
				  .start = event->time,
				  .cost = event->thread->calls->cost,
				  .shown = event->thread->calls->shown};

	call_tracker_enter(event, stacks, &call);
}

static void leave(struct call_event *event, struct callstacks *stacks,
		  const struct ring_record *head, uint64_t stub)
{
	const unsigned word = event->thread->process->space->arch->abi->word;
	const struct arrival arrival = {
		.pc = stub, .sp = head->place + word, .word = word, .in_process = true};

	callstacks_return(stacks, &arrival, call_tracker_popped, event);
}

void ring_calls_report(struct agent *agent, struct thread *thread, const struct ring_moment *moment,
		       const struct ring_record *head, struct record *record)
{
	const struct agent_unit *unit = unit_of(thread->process->space, head->unit);
	const struct agent_probe *probe = unit && head->probe < unit->probes_used
						  ? unit->probes[head->probe]
						  : NULL;

	if (!probe || !probe->site || head->slot >= AGENT_TRAMPOLINE_COUNT)
		return;
	const uint64_t stub = unit->base + AGENT_RETURN_STUBS +
			      (uint64_t)head->slot * AGENT_RETURN_STUB;
	struct call_event event = {.tracker = agent->tracker,
				   .thread = thread,
				   .time = moment->time,
				   .wall = moment->wall,
				   .timing = TIMED_IN_PROCESS,
				   .cost = &thread->calls->cost,
				   .ready = record};
	struct callstacks *stacks = call_tracker_calls(thread);

	callstacks_look_back(stacks, moment->batch, thread->calls->signalled);
	if (record->kind == RECORD_CALL)
		enter(&event, stacks, head, unit, probe, stub);
	else
		leave(&event, stacks, head, stub);
	callstacks_look_back(stacks, 0, false);
}
