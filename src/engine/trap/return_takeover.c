/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives calls that were entered without a stop a return breakpoint: their true return address is
 * on the stack again, because the agent cannot report the return (a forked child, a space that is
 * left, a thread without a ring).
 */
#include "engine/trap/return_takeover.h"

#include "base/xalloc.h"
#include "engine/core/call_tracker.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint_stop.h"
#include "engine/trap/pending.h"
#include "engine/trap/return_breakpoints.h"

void trap_return_restored(struct trap *trap, struct thread *thread,
			  const struct restored_return *restored)
{
	const struct capture_saved *saved = restored->saved;
	struct call *call = thread->calls->stacks
				    ? callstacks_uncover(thread->calls->stacks, restored->place,
							 restored->stub, restored->return_address)
				    : NULL;

	if (!call)
		return;
	pending_note(thread->process->space);
	if (saved && !call->saved && call->site && call->site->plan->needs_saved)
		call->saved = xmemdup(saved, sizeof *saved);
	return_breakpoints_plant(trap->decoder, trap->events, thread, restored->return_address);
}

void trap_take_over(struct trap *trap, struct thread *thread, const struct running_call *running)
{
	const struct engine_events *events = trap->events;
	struct call call = {.place = running->place,
			    .return_address = running->return_address,
			    .site = running->site,
			    .number = call_tracker_number(trap->tracker),
			    .start = running->start,
			    .cost = thread->calls->cost,
			    .shown = thread->calls->shown};

	struct callstacks *calls = call_tracker_calls(thread);

	pending_note(thread->process->space);
	if (return_breakpoints_plant(trap->decoder, events, thread, call.return_address) == 0)
		callstacks_insert(calls, &call);
	else
		events->return_lost(events->context, thread, call.site, call.return_address);
}

int trap_watch_running(struct trap *trap, struct thread *stopped,
		       const struct running_call *running)
{
	return return_breakpoints_plant(trap->decoder, trap->events, stopped,
					running->return_address);
}

bool trap_is_pending(struct thread *thread, const struct running_call *running)
{
	return callstacks_find(call_tracker_calls(thread), running->place, running->return_address,
			       running->entry) != NULL;
}

void trap_begin_running(struct trap *trap, struct thread *thread,
			const struct running_call *running)
{
	struct callstacks *calls = call_tracker_calls(thread);
	struct call_event event = {.tracker = trap->tracker,
				   .thread = thread,
				   .timing = TIMED_BY_BREAKPOINTS,
				   .cost = &thread->calls->cost};
	const struct call call = {.place = running->place,
				  .return_address = running->return_address,
				  .origin = running->return_address,
				  .entry = running->entry,
				  .site = running->site,
				  .number = call_tracker_number(trap->tracker),
				  .start = running->start,
				  .cost = thread->calls->cost,
				  .shown = thread->calls->shown,
				  .stack = running->stack,
				  .depth = (uint32_t)callstacks_depth_at(calls, running->place),
				  .since_attach = true};

	pending_note(thread->process->space);
	callstacks_insert(calls, &call);
	call_tracker_emit(&event, RECORD_RUNNING, &call, 0);
}
