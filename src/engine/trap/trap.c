/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trap engine's way of a call.
 *
 * Entry: the thread hits the int3 of a probe. Its registers and the top of its stack are read,
 * the capture plan runs, the record goes out, the return address gets a breakpoint of its own
 * (which stays: the next call from there finds it), the call is pushed, and the thread goes on
 * in the out-of-line slot. Return: the thread hits the int3 at the return address; the call is
 * found by stack pointer (callstack.c), the exit half of the plan runs, the record goes out.
 * The return address on the stack is never changed, so unwinders see what they expect.
 *
 * Time. A stop costs the tracee far more than most calls take, so what is shown must not
 * contain it. The thread's clock is read as the last thing before it goes on after the entry
 * stop and as the first thing after wait(2) told of the return stop. Between these lie the call
 * and the kernel's part of stopping and resuming (`overhead`, measured at start on a child of
 * our own). For nested calls, thread->cost adds up what every stop of the thread took, our own
 * work and the overhead; a call's duration is reduced by what was added while it was pending.
 * The overhead is followed as it changes (overhead.c).
 *
 * Stops that look alike are told apart by siginfo only where needed: for int3 si_code is
 * SI_KERNEL. A SIGTRAP sent by kill(2) can look like ours only when the pc is one behind a
 * breakpoint, which happens only behind one-byte instructions.
 */
#include "engine/trap/trap.h"

#include "base/xalloc.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/callstack.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/overhead.h"
#include "engine/trap/pending.h"
#include "engine/trap/returns.h"
#include "engine/trap/serving.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/stackview.h"
#include "engine/trap/step.h"
#include "engine/trap/told.h"
#include "engine/trap/unblock.h"
#include "engine/trap/watch.h"
#include "inferior/arena.h"
#include "inferior/ptrace.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORD_BYTES = 65536 };

struct trap *trap_create(const struct engine_events *events, uint64_t overhead)
{
	struct trap *trap = xcalloc(1, sizeof *trap);

	trap->decoder = decoder_create();
	if (!trap->decoder) {
		free(trap);
		return NULL;
	}
	trap->events = events;
	overhead_init(&trap->overhead, overhead);
	trap->buffer = xmalloc(RECORD_BYTES);
	return trap;
}

void trap_destroy(struct trap *trap)
{
	if (!trap)
		return;
	decoder_destroy(trap->decoder);
	free(trap->buffer);
	free(trap);
}

struct decoder *trap_decoder(const struct trap *trap)
{
	return trap->decoder;
}

uint64_t trap_stops(const struct trap *trap)
{
	return trap->stops;
}

uint64_t trap_number_call(struct trap *trap)
{
	return ++trap->calls;
}

const struct engine_events *trap_events(const struct trap *trap)
{
	return trap->events;
}

uint64_t trap_time_of_call(const struct trap *trap, uint64_t raw, uint64_t inner)
{
	return overhead_take_off(&trap->overhead, raw, inner);
}

uint64_t trap_cost_of_stop(const struct trap *trap)
{
	return trap->overhead.now;
}

/* ------------------------------------------------------------------ planting */

int trap_plant(struct trap *trap, struct thread *thread, uint64_t address,
	       const struct probe_site *site, struct hook *hook)
{
	struct breakpoint *breakpoint;
	int error = breakpoint_insert(trap->decoder, thread, address, &breakpoint);

	if (error)
		return error;
	if (hook)
		breakpoint->hook = hook;
	if (hook && hook->when)
		breakpoint_put(thread->process->space, breakpoint, hook->when);
	if (site && breakpoint->site)
		return -EALREADY;
	if (site)
		breakpoint->site = site;
	return 0;
}

void trap_forget(struct space *space, uint64_t low, uint64_t high)
{
	breakpoints_forget(space, low, high);
}

/* ------------------------------------------------------------------ records */

static struct record *begin_record(struct serving *serving, enum record_kind kind,
				   const struct call *call)
{
	struct record *record = (struct record *)(void *)serving->trap->buffer;

	*record = (struct record){.size = sizeof *record};
	call_record_fill(record, kind, serving->thread, call,
			 inferior_event_wall_clock(serving->thread->process->inferior));
	return record;
}

static void load_frame(struct serving *serving, bool need_fp, struct capture_frame *frame)
{
	if (need_fp && !serving->fp_loaded)
		serving->fp_loaded = fp_regs_load(serving->thread->tid, &serving->fp) == 0;
	*frame = (struct capture_frame){.gpr = serving->regs.r,
					.sp = serving->regs.r[REG_SP],
					.memory = &serving->space->readable};
	if (need_fp && serving->fp_loaded) {
		frame->xmm = (const uint8_t(*)[16])serving->fp.xmm;
		frame->xmm_count = sizeof serving->fp.xmm / sizeof *serving->fp.xmm;
		frame->st = (const uint8_t(*)[16])serving->fp.st;
	}
}

static void emit_call(struct serving *serving, const struct call *call)
{
	const struct capture_plan *plan = call->site->plan;
	struct capture_buffer buffer = {serving->trap->buffer, RECORD_BYTES};
	struct record *record = begin_record(serving, RECORD_CALL, call);

	if (plan->entry_count || plan->needs_saved) {
		struct capture_frame frame;

		load_frame(serving, plan->needs_fp_entry, &frame);
		capture_entry(plan, &frame, &buffer, call->saved);
	}
	serving->trap->events->record(serving->trap->events->context, record);
}

static uint64_t duration_of(struct serving *serving, const struct call *call)
{
	struct overhead *overhead = &serving->trap->overhead;
	uint64_t raw = serving->time - call->start;
	uint64_t inner = *serving->kept.cost - call->cost;

	if (!inner)
		overhead_learn(overhead, raw);
	return overhead_take_off(overhead, raw, inner);
}

static void emit_return(struct serving *serving, const struct call *call)
{
	const struct capture_plan *plan = call->site->plan;
	struct capture_buffer buffer = {serving->trap->buffer, RECORD_BYTES};
	struct record *record = begin_record(serving, RECORD_RETURN, call);

	record->duration = duration_of(serving, call);
	if (plan->exit_count) {
		struct capture_frame frame;

		load_frame(serving, plan->needs_fp_exit, &frame);
		capture_exit(plan, &frame, call->saved, &buffer);
	}
	serving->trap->events->record(serving->trap->events->context, record);
}

void serving_popped(void *context, const struct call *call, bool returned)
{
	struct serving *serving = context;

	serving->thread->interrupted -= call->interrupted;
	serving->owed += call->owed;
	if (call->hook) {
		if (returned && call->hook->returned)
			call->hook->returned(call->hook, serving->thread, serving->regs.r[REG_AX]);
	} else if (returned) {
		emit_return(serving, call);
	} else {
		serving->trap->events->record(serving->trap->events->context,
					      begin_record(serving, RECORD_UNWOUND, call));
	}
}

/* ------------------------------------------------------------------ stops */

/* The word on top of the stack: at a function's entry, where it will return to. */
static bool read_return_address(const struct serving *serving, uint64_t *address)
{
	return memory_read_word(&serving->space->memory, serving->regs.r[REG_SP],
				serving->space->arch->abi->word, address);
}

static void enter_call(struct serving *serving, struct call *call, bool watch_return)
{
	struct thread *thread = serving->thread;
	struct trap *trap = serving->trap;

	struct callstacks *calls = keeping_calls(&serving->kept, thread);

	if (serving->space->trap->exchanged && !serving->kept.goroutine)
		callstacks_exchange(calls);
	call->number = call->site ? ++trap->calls : 0;
	if (call->site && call->site->plan->needs_saved)
		call->saved = xcalloc(1, sizeof *call->saved);
	bool returns = watch_return && returns_plant(trap->decoder, trap->events, thread,
						     call->return_address) == 0;
	pending_note(serving->space);
	struct call *pushed = callstacks_push(calls, call, serving_popped, serving);

	if (call->site)
		emit_call(serving, pushed);
	if (returns) {
		serving->made = pushed;
	} else {
		/* It cannot be seen to return: not pending, but never silently lost either. */
		if (pushed->site)
			trap->events->return_lost(trap->events->context, thread, pushed->site,
						  pushed->return_address);
		pushed->return_address = 0;
	}
}

static bool wants_return(struct hook *hook, const struct serving *serving)
{
	return hook && hook->returned &&
	       (!hook->wants_return || hook->wants_return(hook, serving->thread, &serving->regs));
}

/* See call.preserved. */
static uint64_t hash_preserved(const struct serving *serving)
{
	const struct abi *abi = serving->space->arch->abi;
	uint64_t hash = 1;

	if (serving->space->trap->leaves || serving->kept.goroutine)
		return 0;
	for (unsigned i = 0; i < abi->preserved_count; i++)
		hash = (hash ^ serving->regs.r[abi->preserved[i]]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash | 1;
}

static void serve_entry(struct serving *serving, const struct breakpoint *breakpoint,
			const struct probe_site *site)
{
	struct thread *thread = serving->thread;
	const struct engine_events *events = serving->trap->events;
	struct call call = {.slot = serving->regs.r[REG_SP] + serving->kept.shift,
			    .entry = breakpoint->address};
	bool readable = read_return_address(serving, &call.return_address);

	if (readable && serving->space->agent && events->show_caller)
		call.return_address = events->show_caller(
			events->context, thread, serving->regs.r[REG_SP], call.return_address);
	struct callstacks *calls = *serving->kept.calls;
	struct call *again =
		calls ? callstacks_find(calls, call.slot, call.return_address, call.entry) : NULL;

	if (again && again->restarted) {
		again->restarted = false;
		return;
	}
	if (readable && wants_return(breakpoint->hook, serving)) {
		struct call hidden = call;

		hidden.hook = breakpoint->hook;
		enter_call(serving, &hidden, true);
	}
	call.tid = serving->kept.goroutine ? thread->tid : 0;
	if (site) {
		call.site = site;
		call.preserved = hash_preserved(serving);
		enter_call(serving, &call, readable);
	}
}

/*
 * An instruction that calls: it is served as if it had been run already, so what is found is a
 * function's entry like any other. The return address, which that puts on the stack, is written
 * there a second time when the thread goes on.
 */
static void serve_chosen(struct serving *serving, const struct breakpoint *breakpoint)
{
	struct hook *hook = breakpoint->hook;
	const struct regs before = serving->regs;
	struct regs after = before;

	if (breakpoint->slot || breakpoint_pass(breakpoint, serving->space, &after) != 0)
		return;
	const struct probe_site *site = hook->chosen(hook, serving->thread, after.pc);

	if (!site)
		return;
	serving->regs.r[REG_SP] = after.r[REG_SP];
	serve_entry(serving, breakpoint, site);
	serving->regs.r[REG_SP] = before.r[REG_SP];
}

static void serve_return(struct serving *serving, const struct breakpoint *breakpoint)
{
	struct thread *thread = serving->thread;
	struct arrival arrival = stackview_arrival(serving->space->arch->abi, &serving->regs,
						   breakpoint->address);
	struct callstacks *calls = *serving->kept.calls;

	arrival.sp += serving->kept.shift;
	arrival.exact = breakpoint->is_part;
	if (calls && !breakpoint->is_pad &&
	    callstacks_return(calls, &arrival, serving_popped, serving))
		return;
	/* Not a return (a landing pad, a longjmp): what was deeper is over all the same. */
	if (calls)
		callstacks_leave(calls, arrival.sp, serving_popped, serving);
	if (serving->space->agent)
		returns_drop(thread, arrival.pc);
}

/* Everything that is to be done at a breakpoint, but going on. */
static void serve(struct serving *serving, uint64_t address)
{
	struct breakpoint *breakpoint = breakpoint_find(serving->space, address);
	struct hook *hook = breakpoint->hook;

	if (!breakpoint->settled) {
		breakpoint_note_hit(serving->space, breakpoint);
		breakpoint_settle(serving->trap->decoder, serving->space, breakpoint);
		breakpoint->is_go = serving->space->arch->go &&
				    serving->trap->events->is_go(serving->trap->events->context,
								 serving->space, address);
	}
	if (breakpoint->is_go)
		serving->kept = keeping_of_goroutine(serving->thread, &serving->regs);
	/* Planting and verifying may replace the breakpoint: look it up again after each step. */
	if (breakpoint->is_return)
		serve_return(serving, breakpoint);
	if (hook && hook->entered)
		hook->entered(hook, serving->thread);
	breakpoint = breakpoint_find(serving->space, address);
	if (breakpoint && (breakpoint->site || (breakpoint->hook && breakpoint->hook->returned)))
		serve_entry(serving, breakpoint, breakpoint->site);
	breakpoint = breakpoint_find(serving->space, address);
	if (breakpoint && breakpoint->hook && breakpoint->hook->chosen)
		serve_chosen(serving, breakpoint);
}

/* Where a call goes on that a hook may answer: false when that cannot be said. */
static bool find_end_of_call(const struct serving *serving, const struct breakpoint *breakpoint,
			     struct regs *regs)
{
	if (!breakpoint->hook->on_system_call) {
		regs->r[REG_SP] += serving->space->arch->abi->word;
		return read_return_address(serving, &regs->pc);
	}
	regs->pc = breakpoint->address + breakpoint->displaced.length;
	return breakpoint->displaced.length && !breakpoint->site;
}

/* A hook answers in place of the function or the system call: the thread goes on behind it. */
static bool is_answered(struct serving *serving, const struct breakpoint *breakpoint)
{
	struct hook *hook = breakpoint->hook;
	struct regs behind = serving->regs;

	if (!hook || !hook->intercept || !find_end_of_call(serving, breakpoint, &behind) ||
	    !hook->intercept(hook, serving->thread, &serving->regs, &behind.r[REG_AX]))
		return false;
	const struct engine_events *events = serving->trap->events;

	if (hook->on_system_call && events->system_call_answered)
		events->system_call_answered(events->context, serving->thread, &serving->regs,
					     behind.r[REG_AX]);
	serving->regs = behind;
	regs_store(serving->thread->tid, &serving->regs);
	if (hook->answered)
		hook->answered(hook, serving->thread);
	return true;
}

/* Served, but for going on: what that took is not in the durations of calls. */
static void charge(const struct serving *serving)
{
	const struct trap *trap = serving->trap;
	struct thread *thread = serving->thread;
	struct call *made = serving->made;

	if (!made)
		trap_delayed(trap, thread, serving->regs.r[REG_SP], serving->time - serving->owed);
	uint64_t now = inferior_clock();
	uint64_t took = now - serving->time + trap->overhead.now;

	thread->cost += took;
	if (serving->kept.goroutine)
		*serving->kept.cost += took;
	if (!made)
		return;
	made->owed = serving->owed + took;
	made->cost = *serving->kept.cost;
	made->start = now;
}

static void go_on(struct serving *serving, uint64_t address)
{
	struct thread *thread = serving->thread;
	struct breakpoint *breakpoint = breakpoint_find(serving->space, address);

	if (thread_is_over(thread))
		return;
	if (serving->redirected) {
		regs_store(thread->tid, &serving->regs);
		breakpoint = NULL;
	} else if (!breakpoint) {
		/*
		 * Gone while it was served (its module was unloaded): run what stands there
		 * now.
		 */
		serving->regs.pc = address;
		regs_store(thread->tid, &serving->regs);
	} else if (is_answered(serving, breakpoint)) {
		breakpoint = NULL;
	} else if (breakpoint->step ||
		   breakpoint_pass(breakpoint, serving->space, &serving->regs) != 0) {
		if (!step_past(thread, breakpoint, &serving->regs) && serving->made)
			serving->made->restarted = true;
	} else {
		regs_store(thread->tid, &serving->regs);
	}
	thread->slot = breakpoint ? breakpoint->slot : 0;
	trap_thread_sync(thread);
	if (thread->state == THREAD_STOPPED && !thread->has_deferred)
		sigtrap_repair(thread);
	charge(serving);
	keeping_release(&serving->kept, serving->space);
	if (thread->state == THREAD_STOPPED && !thread->has_deferred)
		thread_resume(thread, thread->sigtrap_own ? SIGTRAP : 0);
}

static bool is_redirected(struct serving *serving, const struct breakpoint *breakpoint)
{
	struct hook *hook = breakpoint->hook;

	return hook && hook->redirect && !serving->thread->process->silent &&
	       hook->redirect(hook, serving->thread, &serving->regs);
}

bool trap_stop(struct trap *trap, const struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct serving serving = {.trap = trap,
				  .thread = thread,
				  .space = thread->process->space,
				  .time = stop->time,
				  .kept = keeping_of_thread(thread)};

	if (!serving.space)
		return false;
	if (regs_load(thread->tid, &serving.regs) != 0) {
		thread->state = THREAD_RUNNING; /* killed: its end will be reported */
		return true;
	}
	uint64_t address = serving.regs.pc - serving.space->arch->breakpoint_pc_offset;
	struct breakpoint *breakpoint = breakpoint_find(serving.space, address);

	if (!breakpoint)
		return watch_serve(trap->events, thread) || serving_not_ours(&serving, address);
	if (breakpoint->displaced.length <= serving.space->arch->breakpoint_pc_offset &&
	    !sigtrap_is_hit(thread))
		return watch_serve(trap->events, thread);
	trap->stops++;
	if (breakpoint->hook && !breakpoint->site && !breakpoint->is_return)
		breakpoint->hook->stops++;
	thread->at_breakpoint = true;
	sigtrap_hit(thread, serving.time);
	if (thread->sigtrap_blocked) {
		/* At once: until then no thread would survive our death. */
		sigtrap_repair(thread);
		trap->events->masks_matter(trap->events->context, thread);
	} else if (thread->process->borrower && thread->unblocked) {
		/* As was its parent when it made it; the next child is to find that open. */
		trap->events->masks_matter(trap->events->context, thread);
	}
	serving.redirected = is_redirected(&serving, breakpoint);
	if (!serving.redirected && !thread->process->silent)
		serve(&serving, address);
	thread->at_breakpoint = false;
	go_on(&serving, address);
	return true;
}

/*
 * ------------------------------------------------------------------ life of threads and spaces
 */

void trap_complete(struct trap *trap, struct thread *thread)
{
	breakpoints_complete(trap->decoder, thread);
}

void trap_thread_gone(struct trap *trap, struct thread *thread, bool report)
{
	struct serving serving = {.trap = trap,
				  .thread = thread,
				  .space = thread->process->space,
				  .kept = keeping_of_thread(thread)};

	unblock_forget(thread);
	if (!thread->calls)
		return;
	if (report)
		callstacks_unwind(thread->calls, serving_popped, &serving);
	callstacks_destroy(thread->calls);
	thread->calls = NULL;
	thread->interrupted = 0;
	memset(&thread->signal_stack, 0, sizeof thread->signal_stack);
}

void trap_long_jump(struct trap *trap, struct thread *thread, bool mangled)
{
	struct serving serving = {.trap = trap,
				  .thread = thread,
				  .space = thread->process->space,
				  .kept = keeping_of_thread(thread)};
	struct stack_jump jump;
	struct regs regs;

	if (thread->calls && regs_load(thread->tid, &regs) == 0 &&
	    stackview_find_jump(serving.space, &regs, mangled, &jump))
		callstacks_jump(thread->calls, &jump, serving_popped, &serving);
}
