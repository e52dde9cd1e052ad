/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/trap/told.h"

#include "engine/trap/pending.h"
#include "engine/trap/returns.h"
#include "engine/trap/stackview.h"

#include "base/xalloc.h"

/* What is being told, to what becomes of calls by that. */
struct telling {
	struct trap *trap;
	struct thread *thread;
	const struct told *told;
	struct record *returned; /* of the return, until its call has been found */
};

void call_record_fill(struct record *record, enum record_kind kind, const struct thread *thread,
		      const struct call *call, uint64_t time)
{
	record->version = RECORD_VERSION;
	record->kind = (uint8_t)kind;
	record->pid = thread->process->pid;
	record->tid = call->tid ? call->tid : thread->tid;
	record->probe = call->site->info->id;
	record->depth = call->depth;
	record->call = call->number;
	record->time = time;
	record->duration = 0;
	record->pc = call->origin;
	record->number = kind == RECORD_RETURN && call->inherited ? RECORD_INHERITED : 0;
}

static void emit(const struct telling *telling, const struct record *record)
{
	const struct engine_events *events = trap_events(telling->trap);

	events->record(events->context, record);
}

static void call_popped_then(void *context, const struct call *call, bool returned)
{
	struct telling *telling = context;
	struct record left = {.size = sizeof left};
	struct record *record = returned && telling->returned ? telling->returned : &left;

	telling->thread->interrupted -= call->interrupted;
	if (!call->site)
		return;
	call_record_fill(record, record == &left ? RECORD_UNWOUND : RECORD_RETURN, telling->thread,
			 call, telling->told->time);
	if (record != &left) {
		uint64_t raw = telling->told->clock - call->start;
		uint64_t inner = telling->thread->cost - call->cost;

		record->duration = telling->told->clock > call->start && raw > inner ? raw - inner
										     : 0;
		telling->returned = NULL;
	}
	emit(telling, record);
}

static struct callstacks *look_back(struct thread *thread, const struct told *told)
{
	if (!thread->calls)
		thread->calls = callstacks_create(&stackview_thread, thread);
	callstacks_look_back(thread->calls, told->moment, thread->signalled);
	return thread->calls;
}

void trap_told_call(struct trap *trap, struct thread *thread, const struct told *told,
		    struct record *record)
{
	struct telling telling = {.trap = trap, .thread = thread, .told = told};
	const struct call call = {.slot = told->place,
				  .return_address = told->stub,
				  .caller = told->return_address,
				  .entry = told->entry,
				  .site = told->site,
				  .in_process = true,
				  .number = trap_number_call(trap),
				  .start = told->clock,
				  .cost = thread->cost};
	struct callstacks *calls = look_back(thread, told);

	call_record_fill(record, RECORD_CALL, thread,
			 callstacks_push(calls, &call, call_popped_then, &telling), told->time);
	callstacks_look_back(calls, 0, false);
	emit(&telling, record);
}

void trap_told_return(struct trap *trap, struct thread *thread, const struct told *told,
		      struct record *record)
{
	struct telling telling = {.trap = trap, .thread = thread, .told = told, .returned = record};
	unsigned word = thread->process->space->arch->abi->word;
	const struct arrival arrival = {
		.pc = told->stub, .sp = told->place + word, .word = word, .in_process = true};
	struct callstacks *calls = look_back(thread, told);

	callstacks_return(calls, &arrival, call_popped_then, &telling);
	callstacks_look_back(calls, 0, false);
}

bool trap_untold(struct trap *trap, struct thread *thread, const struct told *told,
		 const struct capture_saved *saved)
{
	uint64_t caller = told->return_address;
	struct call *call = thread->calls ? callstacks_uncover(thread->calls, told->place,
							       told->stub, caller)
					  : NULL;

	if (!call)
		return false;
	pending_note(thread->process->space);
	if (saved && !call->saved && call->site && call->site->plan->needs_saved)
		call->saved = xmemdup(saved, sizeof *saved);
	return returns_plant(trap_decoder(trap), trap_events(trap), thread, caller) == 0;
}

void trap_take_over(struct trap *trap, struct thread *thread, const struct running_call *running)
{
	const struct engine_events *events = trap_events(trap);
	struct call call = {.slot = running->place,
			    .return_address = running->return_address,
			    .site = running->site,
			    .number = trap_number_call(trap),
			    .start = running->start,
			    .cost = thread->cost};

	if (!thread->calls)
		thread->calls = callstacks_create(&stackview_thread, thread);
	pending_note(thread->process->space);
	if (returns_plant(trap_decoder(trap), events, thread, call.return_address) == 0)
		callstacks_insert(thread->calls, &call);
	else
		events->return_lost(events->context, thread, call.site, call.return_address);
}

void trap_delayed(const struct trap *trap, struct thread *thread, uint64_t sp, uint64_t time)
{
	const struct engine_events *events = trap_events(trap);
	const struct space *space = thread->process->space;

	if (space && space->agent && events->delayed)
		events->delayed(events->context, thread, sp, time, trap_cost_of_stop(trap));
}
