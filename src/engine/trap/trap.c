/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the trap engine handles a call.
 *
 * Entry: the thread hits the int3 of a probe. The engine reads its registers and the return
 * address, runs the capture plan, emits the record, plants a breakpoint at the return address
 * (which stays: the next call from there reuses it) and pushes the call. The thread continues in
 * the XOL slot. Return: the thread hits the int3 at the return address. The engine finds the call
 * by the stack pointer (callstack.c), runs the exit half of the plan and emits the record. The
 * return address on the stack is never changed, so unwinders see the one that they expect.
 *
 * The call tracker (engine/core/call_tracker.c) makes the records and takes the cost of stops off
 * the durations.
 *
 * Siginfo is read only where it is needed to tell stops apart: the si_code of an int3 is
 * SI_KERNEL. A SIGTRAP sent by kill(2) can be mistaken for a breakpoint only if the pc is one byte
 * behind a breakpoint, which happens only behind one-byte instructions.
 */
#include "engine/trap/trap.h"

#include "base/xalloc.h"
#include "engine/core/call_tracker.h"
#include "engine/core/callstack.h"
#include "engine/core/stackset.h"
#include "engine/core/stackview.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/breakpoint_stop.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/fork_child.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/pending.h"
#include "engine/trap/return_breakpoints.h"
#include "engine/trap/sigmask_given.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/step.h"
#include "engine/trap/trap_state.h"
#include "engine/trap/watch.h"
#include "record/condition.h"
#include "record/sampling.h"
#include "tracee/clock.h"
#include "tracee/resume.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct trap *trap_create(struct call_tracker *tracker)
{
	struct trap *trap = xcalloc(1, sizeof *trap);

	trap->decoder = decoder_create();
	if (!trap->decoder) {
		free(trap);
		return NULL;
	}
	trap->tracker = tracker;
	trap->events = call_tracker_events(tracker);
	trap->random = clock_now();
	return trap;
}

void trap_destroy(struct trap *trap)
{
	if (!trap)
		return;
	decoder_destroy(trap->decoder);
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

/* ------------------------------------------------------------------ values of a record */

static void load_frame(struct breakpoint_stop *hit, bool need_fp, struct capture_frame *frame)
{
	if (need_fp && !hit->fp_loaded)
		hit->fp_loaded = fp_regs_load(hit->thread->tid, &hit->fp) == 0;
	*frame = (struct capture_frame){
		.gpr = hit->regs.r, .sp = hit->regs.r[REG_SP], .memory = &hit->space->readable};
	if (need_fp && hit->fp_loaded) {
		frame->xmm = (const uint8_t(*)[16])hit->fp.xmm;
		frame->xmm_count = sizeof hit->fp.xmm / sizeof *hit->fp.xmm;
		frame->st = (const uint8_t(*)[16])hit->fp.st;
	}
}

/* A call_capture function: the values are in the registers and the memory of the thread. */
static void capture_values(const struct call_event *event, enum record_kind kind,
			   const struct call *call, struct capture_buffer *buffer)
{
	const struct capture_plan *plan = call->site->plan;
	const bool is_entry = kind == RECORD_CALL;
	struct capture_frame frame;

	load_frame(event->source, is_entry ? plan->needs_fp_entry : plan->needs_fp_exit, &frame);
	if (is_entry)
		capture_entry(plan, &frame, buffer, call->saved);
	else
		capture_exit(plan, &frame, call->saved, buffer);
}

/* ------------------------------------------------------------------ stops */

static void begin_stop(struct breakpoint_stop *hit, struct trap *trap, struct thread *thread,
		       uint64_t time)
{
	*hit = (struct breakpoint_stop){.trap = trap,
					.thread = thread,
					.space = thread->process->space,
					.kept = keeping_of_thread(thread)};
	hit->event = (struct call_event){.tracker = trap->tracker,
					 .thread = thread,
					 .time = time,
					 .timing = TIMED_BY_BREAKPOINTS,
					 .cost = hit->kept.cost,
					 .capture = capture_values,
					 .entry = &hit->regs,
					 .source = hit};
}

/*
 * Returns the breakpoint of the stop, or NULL. It is looked up once, and again if breakpoints were
 * freed since: the functions that are called at a stop may remove or replace it.
 */
static struct breakpoint *breakpoint_of(struct breakpoint_stop *hit)
{
	const struct trap_space *traps = hit->space->trap;

	if (!traps)
		return NULL;
	if (!hit->breakpoint || hit->freed != traps->freed) {
		hit->breakpoint = breakpoint_find(hit->space, hit->address);
		hit->freed = traps->freed;
	}
	return hit->breakpoint;
}

/* Reads the word at sp, which is the return address at a function's entry. */
static bool read_return_address(const struct breakpoint_stop *hit, uint64_t *address)
{
	return memory_read_word(&hit->space->memory, hit->regs.r[REG_SP],
				hit->space->arch->abi->word, address);
}

static void enter_call(struct breakpoint_stop *hit, const struct call *call, bool watch_return)
{
	struct thread *thread = hit->thread;
	struct trap *trap = hit->trap;

	struct callstacks *calls = keeping_calls(&hit->kept, thread);

	if (hit->space->trap->exchanged && !hit->kept.goroutine)
		callstacks_exchange(calls);
	bool returns = watch_return && return_breakpoints_plant(trap->decoder, trap->events, thread,
								call->return_address) == 0;
	pending_note(hit->space);
	struct call *pushed = call_tracker_enter(&hit->event, calls, call);

	if (returns) {
		hit->made = pushed;
	} else {
		/* The return will cause no stop: report that, and let no arrival match the call. */
		if (pushed->site)
			trap->events->return_lost(trap->events->context, thread, pushed->site,
						  pushed->return_address);
		pushed->return_address = 0;
	}
}

static bool wants_return(struct hook *hook, const struct breakpoint_stop *hit)
{
	return hook && hook->returned &&
	       (!hook->wants_return || hook->wants_return(hook, hit->thread, &hit->regs));
}

/* Hashes the callee-saved registers, which Go's code does not have; 0: not known. */
static uint64_t hash_registers(const struct breakpoint_stop *hit)
{
	const struct abi *abi = hit->space->arch->abi;
	uint64_t hash = 1;

	if (hit->kept.goroutine)
		return 0;
	for (unsigned i = 0; i < abi->preserved_count; i++)
		hash = (hash ^ hit->regs.r[abi->preserved[i]]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash | 1;
}

static size_t read_stack(void *context, uint64_t address, void *buffer, size_t length)
{
	const struct breakpoint_stop *hit = context;

	return memory_read(&hit->space->readable, address, buffer, length);
}

/* Returns true if the call is one of those that --sample chooses. */
static bool is_chosen(struct breakpoint_stop *hit, const struct capture_plan *plan)
{
	const struct engine_events *events = hit->trap->events;
	const uint64_t place = hit->regs.r[REG_SP];

	return !plan->chosen_below ||
	       (events->is_chosen && events->is_chosen(events->context, hit->thread, place)) ||
	       sampling_chooses(&hit->trap->random, plan->chosen_below);
}

/* Returns false if the arguments tell that the user does not want to see the call. */
static bool may_pass(struct breakpoint_stop *hit, const struct capture_plan *plan)
{
	const struct condition_frame frame = {hit->regs.r, hit->regs.r[REG_SP], read_stack, hit};

	return !plan->condition_count || condition_holds(plan, &frame);
}

static void serve_entry(struct breakpoint_stop *hit, const struct breakpoint *breakpoint,
			const struct probe_site *site)
{
	struct thread *thread = hit->thread;
	const struct engine_events *events = hit->trap->events;
	struct call call = {.place = hit->regs.r[REG_SP] + hit->kept.shift,
			    .entry = breakpoint->address};
	bool readable = read_return_address(hit, &call.return_address);

	if (readable && trap_has_agent(hit->space) && events->show_caller)
		call.return_address = events->show_caller(events->context, thread,
							  hit->regs.r[REG_SP], call.return_address);
	struct callstacks *calls = *hit->kept.calls;
	struct call *again =
		calls ? callstacks_find(calls, call.place, call.return_address, call.entry) : NULL;

	if (again && again->restarted) {
		again->restarted = false;
		return;
	}
	if (readable && wants_return(breakpoint->hook, hit)) {
		struct call hidden = call;

		hidden.hook = breakpoint->hook;
		enter_call(hit, &hidden, true);
	}
	call.tid = hit->kept.goroutine ? thread->tid : 0;
	if (site && may_pass(hit, site->plan) && is_chosen(hit, site->plan)) {
		call.site = site;
		call.registers = hash_registers(hit);
		call.may_circle = call.registers && !hit->space->trap->leaves;
		enter_call(hit, &call, readable);
	}
}

/*
 * Handles a hit at an indirect call as if the call had been made: with the new stack pointer, it
 * is a function's entry like any other. The return address that the emulated call pushes here is
 * written once more when the thread continues.
 */
static void serve_chosen(struct breakpoint_stop *hit, const struct breakpoint *breakpoint)
{
	struct hook *hook = breakpoint->hook;
	const struct regs before = hit->regs;
	struct regs after = before;

	if (breakpoint->xol_slot || breakpoint_pass(breakpoint, hit->space, &after) != 0)
		return;
	const struct probe_site *site = hook->chosen(hook, hit->thread, after.pc);

	if (!site)
		return;
	hit->regs.r[REG_SP] = after.r[REG_SP];
	serve_entry(hit, breakpoint, site);
	hit->regs.r[REG_SP] = before.r[REG_SP];
}

static void serve_return(struct breakpoint_stop *hit, const struct breakpoint *breakpoint)
{
	struct thread *thread = hit->thread;
	struct arrival arrival = stackview_arrival(hit->space->arch->abi, &hit->regs,
						   breakpoint->address);
	struct callstacks *calls = *hit->kept.calls;

	arrival.sp += hit->kept.shift;
	arrival.exact = breakpoint->is_part;
	if (calls && !breakpoint->is_pad &&
	    callstacks_return(calls, &arrival, call_tracker_popped, &hit->event))
		return;
	/* Not a return (a landing pad, a longjmp), but the deeper calls are over. */
	if (calls)
		callstacks_leave(calls, arrival.sp, call_tracker_popped, &hit->event);
	if (trap_has_agent(hit->space))
		return_breakpoints_drop(thread, arrival.pc);
}

/* Handles a hit of a breakpoint, except for resuming the thread. */
static void serve(struct breakpoint_stop *hit)
{
	struct breakpoint *breakpoint = breakpoint_of(hit);
	struct hook *hook = breakpoint ? breakpoint->hook : NULL;

	if (!breakpoint)
		return;
	if (!breakpoint->settled) {
		breakpoint_note_hit(hit->space, breakpoint);
		breakpoint_settle(hit->trap->decoder, hit->space, breakpoint);
		breakpoint->is_go = hit->space->arch->go &&
				    hit->trap->events->is_go(hit->trap->events->context, hit->space,
							     hit->address);
	}
	if (breakpoint->is_go) {
		hit->kept = keeping_of_goroutine(hit->thread, &hit->regs);
		hit->event.cost = hit->kept.cost;
	}
	if (breakpoint->is_return)
		serve_return(hit, breakpoint);
	if (hook && hook->entered)
		hook->entered(hook, hit->thread);
	breakpoint = breakpoint_of(hit);
	if (breakpoint && (breakpoint->site || (breakpoint->hook && breakpoint->hook->returned)))
		serve_entry(hit, breakpoint, breakpoint->site);
	breakpoint = breakpoint_of(hit);
	if (breakpoint && breakpoint->hook && breakpoint->hook->chosen)
		serve_chosen(hit, breakpoint);
}

/*
 * Sets `regs` to where the thread continues if a hook answers the call. Returns false if that
 * cannot be determined.
 */
static bool find_end_of_call(const struct breakpoint_stop *hit, const struct breakpoint *breakpoint,
			     struct regs *regs)
{
	if (!breakpoint->hook->on_system_call) {
		regs->r[REG_SP] += hit->space->arch->abi->word;
		return read_return_address(hit, &regs->pc);
	}
	regs->pc = breakpoint->address + breakpoint->displaced.length;
	return breakpoint->displaced.length && !breakpoint->site;
}

/*
 * Returns true if a hook has answered in place of the function or the system call. The registers
 * are then set to continue behind the call.
 */
static bool is_answered(struct breakpoint_stop *hit, const struct breakpoint *breakpoint)
{
	struct hook *hook = breakpoint->hook;
	struct regs behind = hit->regs;

	if (!hook || !hook->intercept || !find_end_of_call(hit, breakpoint, &behind) ||
	    !hook->intercept(hook, hit->thread, &hit->regs, &behind.r[REG_AX]))
		return false;
	const struct engine_events *events = hit->trap->events;

	if (hook->on_system_call && events->system_call_answered)
		events->system_call_answered(events->context, hit->thread, &hit->regs,
					     behind.r[REG_AX]);
	hit->regs = behind;
	regs_store(hit->thread->tid, &hit->regs);
	if (hook->answered)
		hook->answered(hook, hit->thread);
	return true;
}

static void go_on(struct breakpoint_stop *hit)
{
	struct thread *thread = hit->thread;

	if (thread_is_over(thread))
		return;
	struct breakpoint *breakpoint = breakpoint_of(hit);

	if (hit->redirected) {
		regs_store(thread->tid, &hit->regs);
		breakpoint = NULL;
	} else if (!breakpoint) {
		/*
		 * The breakpoint was removed while the stop was handled (its module was unloaded):
		 * run the instruction that is there now.
		 */
		hit->regs.pc = hit->address;
		regs_store(thread->tid, &hit->regs);
	} else if (is_answered(hit, breakpoint)) {
		breakpoint = NULL;
	} else if (breakpoint->step || breakpoint_pass(breakpoint, hit->space, &hit->regs) != 0) {
		if (!step_past(thread, breakpoint, &hit->regs) && hit->made)
			hit->made->restarted = true;
	} else {
		regs_store(thread->tid, &hit->regs);
	}
	thread->trap->xol_slot = breakpoint ? breakpoint->xol_slot : 0;
	trap_thread_sync(thread);
	if (thread->state == THREAD_STOPPED && !thread->has_deferred)
		sigtrap_repair(thread);
	call_tracker_resume(&hit->event, hit->regs.r[REG_SP], hit->made);
	keeping_release(&hit->kept, hit->space);
	if (thread->state == THREAD_STOPPED && !thread->has_deferred)
		thread_resume(thread, sigtrap_to_deliver(thread));
}

static bool is_redirected(struct breakpoint_stop *hit)
{
	const struct breakpoint *breakpoint = breakpoint_of(hit);
	struct hook *hook = breakpoint ? breakpoint->hook : NULL;

	return hook && hook->redirect && !hit->thread->process->silent &&
	       hook->redirect(hook, hit->thread, &hit->regs);
}

bool trap_stop(struct trap *trap, const struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct breakpoint_stop hit;

	begin_stop(&hit, trap, thread, stop->time);
	if (!hit.space)
		return false;
	if (regs_load(thread->tid, &hit.regs) != 0) {
		thread->state = THREAD_RUNNING; /* killed: its end will be reported */
		return true;
	}
	hit.event.result = hit.regs.r[REG_AX];
	hit.address = hit.regs.pc - hit.space->arch->breakpoint_pc_offset;
	const struct breakpoint *breakpoint = breakpoint_of(&hit);

	if (!breakpoint)
		return watch_serve(trap->events, thread) || breakpoint_stop_not_ours(&hit);
	if (breakpoint->displaced.length <= hit.space->arch->breakpoint_pc_offset &&
	    !sigtrap_is_hit(thread))
		return watch_serve(trap->events, thread);
	trap->stops++;
	if (breakpoint->hook && !breakpoint->site && !breakpoint->is_return)
		breakpoint->hook->stops++;
	thread->at_breakpoint = true;
	sigtrap_hit(thread, stop->time);
	if (thread->trap->sigtrap_blocked) {
		/*
		 * At once: if the tracer were killed before that, the next hit would kill the
		 * process.
		 */
		sigtrap_repair(thread);
		trap->events->masks_matter(trap->events->context, thread);
	} else if (thread->process->shares_parent_vm && thread->trap->unblocked) {
		/*
		 * The parent blocked SIGTRAP as well when it cloned; its mask calls must be hooked
		 * before the next child.
		 */
		trap->events->masks_matter(trap->events->context, thread);
	}
	hit.redirected = is_redirected(&hit);
	if (!hit.redirected && !thread->process->silent)
		serve(&hit);
	thread->at_breakpoint = false;
	go_on(&hit);
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
	struct breakpoint_stop hit;

	sigmask_given_forget(thread);
	if (!thread->calls->stacks)
		return;
	begin_stop(&hit, trap, thread, clock_now());
	if (report)
		callstacks_unwind(thread->calls->stacks, call_tracker_popped, &hit.event);
	callstacks_destroy(thread->calls->stacks);
	thread->calls->stacks = NULL;
	thread->syscall_stops = 0;
	memset(&thread->calls->signal_stack, 0, sizeof thread->calls->signal_stack);
}

void trap_long_jump(struct trap *trap, struct thread *thread, bool mangled)
{
	struct breakpoint_stop hit;
	struct stack_jump jump;
	struct regs regs;

	begin_stop(&hit, trap, thread, clock_now());
	if (thread->calls->stacks && regs_load(thread->tid, &regs) == 0 &&
	    stackview_find_jump(hit.space, &regs, mangled, &jump))
		callstacks_jump(thread->calls->stacks, &jump, call_tracker_popped, &hit.event);
}
