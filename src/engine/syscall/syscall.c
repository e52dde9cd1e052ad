/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls.
 *
 * A thread that is resumed by PTRACE_SYSCALL stops when it enters a system call, and again when
 * the kernel is about to return to the program. PTRACE_GET_SYSCALL_INFO tells which of the two it
 * is, the call, its result, and the ABI: a program for x86_64 may make i386 calls by `int $0x80`.
 * Stops are never counted. Plans capture the values, as for functions: a plan's register numbers
 * are the arguments in their order, and REG_AX is the result.
 *
 * The tracer's own remote calls (tracee/remote.c) are waited for there, up to their end, and cause
 * no stop here. Where threads are waited for in other ways (thread_stop()), these stops are passed
 * on to this file.
 *
 * Calls that are made again. When a signal, or the tracer's interrupt, comes into a call that
 * waits, the call ends with -ERESTARTSYS or a similar number. The program never sees these: the
 * kernel then decides whether to make the call again or to return -EINTR to a handler. As the
 * tracer interrupts threads for its own purposes, the trace would show calls that mean nothing to
 * the program. So the end of such a call is held back until the next stop shows why it has ended.
 * If that is a signal, the end is reported first. If it is an interrupt, or nothing, and the
 * thread then enters the same call again, that is not a new call. A call that fails with EINTR
 * only because of the tracer (tracee/syscall_restart.c) is held back, too.
 *
 *	entry ──► exit with a result ──► reported
 *	      ──► exit, restarting ──► interrupt ──► entry of the same ──► …
 *	                           ──► a signal, or anything else ──► reported: ? ERESTARTSYS
 *
 * exit(2) and exit_group(2) do not return. Their end is reported when the thread stops for its
 * end. All other calls that a thread is in when its process ends stay unfinished.
 *
 * An exec(2) from a thread that is not the leader continues as the leader. The values captured at
 * its entry are in struct system_call; at its end the old program's memory cannot be read.
 *
 * Time is counted as for functions (core/call_tracker.c): from the moment before the thread is
 * resumed to the report of the second stop, less the cost of a pair of stops. Each stop is part of
 * thread->calls->cost, which is subtracted from the functions around it.
 */
#include "engine/syscall/syscall.h"

#include "base/xalloc.h"
#include "engine/core/call_tracker.h"
#include "engine/core/thread_calls.h"
#include "record/sampling.h"
#include "tracee/clock.h"
#include "tracee/ptrace.h"
#include "tracee/syscall_restart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 6 };

/* Results that mean that the kernel makes the call again (linux/errno.h). */
enum { KERNEL_ERESTARTSYS = 512, KERNEL_ERESTARTNOHAND = 514, KERNEL_ERESTART_RESTARTBLOCK = 516 };

struct syscalls {
	struct call_tracker *tracker;
	struct syscall_events events;
	bool was_refused;
	uint64_t random; /* record/sampling.h */
};

enum call_state {
	CALL_NONE,
	CALL_ENTERED,
	CALL_HELD,	 /* it ended, possibly because of the tracer */
	CALL_INTERRUPTED /* it ended because of the tracer */
};

struct system_call {
	enum call_state state;
	/* --sample has not chosen it. It is kept so that it is not decided anew if it goes on. */
	bool is_left_out;
	const struct arch *arch;
	uint64_t number, first; /* `first`: the first argument */
	struct call call;	/* its members about the stack are not used */
	struct capture_saved saved;
	uint64_t result_at; /* address where the kernel stores the result; 0: nowhere */
	int64_t result;	    /* valid in CALL_HELD, CALL_INTERRUPTED */
	uint64_t duration, ended;
};

static void no_memory(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		ranges[i].done = 0;
}

struct syscalls *syscalls_create(struct call_tracker *tracker, const struct syscall_events *events)
{
	struct syscalls *calls = xcalloc(1, sizeof *calls);

	calls->tracker = tracker;
	calls->events = *events;
	calls->random = clock_now();
	return calls;
}

void syscalls_destroy(struct syscalls *calls)
{
	free(calls);
}

/* ------------------------------------------------------------------ records */

static bool is_filled(const struct capture_plan *plan, const struct capture_op *op)
{
	return op->argument == VALUE_RESULT || (plan->outputs >> (op->argument & VALUE_INDEX) & 1);
}

/* REG_AX is 1 because 0 as a length would give an empty string. */
void syscalls_capture_unfilled(const struct capture_plan *plan, const struct capture_saved *saved,
			       const struct space *space, struct capture_buffer *buffer)
{
	static const struct memory_source nowhere = {.readv = no_memory};
	uint64_t registers[REG_COUNT] = {[REG_AX] = 1};
	const struct record *record = (const struct record *)(void *)buffer->bytes;
	unsigned made = 0;

	/*
	 * Each operation without a condition makes at least one value, unless the record is full.
	 */
	for (unsigned i = 0; i < plan->exit_count && record->value_count >= made; i++) {
		bool is_readable = space && !is_filled(plan, &plan->exit[i]);
		const struct capture_frame frame = {
			.gpr = registers, .memory = is_readable ? &space->readable : &nowhere};

		capture_exit_some(plan, i, 1, &frame, saved, buffer);
		made += !plan->exit[i].choices;
	}
}

/* Captures the values at the return of a failed call. */
static void capture_failure(const struct system_call *own, const struct space *space,
			    struct capture_buffer *buffer)
{
	struct record *record = (struct record *)(void *)buffer->bytes;

	syscalls_capture_unfilled(own->call.site->plan, &own->saved, space, buffer);
	struct record_value *result = (struct record_value *)(void *)(record + 1);

	if (record->value_count && result->argument == VALUE_RESULT)
		result->word = (uint64_t)own->result;
}

/*
 * Returns the result of a successful call: the stored one, or that of the call itself if that
 * cannot be read.
 */
static uint64_t result_of(const struct system_call *own, const struct space *space)
{
	uint64_t stored = 0;

	if (own->result_at &&
	    memory_read_exact(&space->memory, own->result_at, &stored, own->arch->abi->word))
		return stored;
	return (uint64_t)own->result;
}

/* A call_capture function. `source` has the arguments of a call that is entered. */
static void capture_values(const struct call_event *event, enum record_kind kind,
			   const struct call *call, struct capture_buffer *buffer)
{
	struct system_call *own = event->thread->system_call;
	const struct space *space = event->thread->process->space;
	uint64_t registers[REG_COUNT] = {0};
	struct capture_frame frame = {.gpr = registers};

	if (kind == RECORD_CALL) {
		frame.memory = &space->readable;
		memcpy(registers, event->source, ARGUMENTS * sizeof(uint64_t));
		capture_entry(call->site->plan, &frame, buffer, &own->saved);
	} else if (event->error || !space) {
		capture_failure(own, space, buffer);
	} else {
		frame.memory = &space->readable;
		registers[REG_AX] = result_of(own, space);
		capture_exit(call->site->plan, &frame, &own->saved, buffer);
	}
}

/* `time`: of the thread's stop, clock_now(). */
static struct call_event make_event(struct syscalls *calls, struct thread *thread, uint64_t time)
{
	return (struct call_event){.tracker = calls->tracker,
				   .thread = thread,
				   .time = time,
				   .timing = TIMED_BY_STOPS,
				   .cost = &thread->calls->cost,
				   .capture = capture_values};
}

static void emit_call(struct syscalls *calls, struct thread *thread, uint64_t arguments[ARGUMENTS])
{
	struct call_event event = make_event(calls, thread, 0);

	event.source = arguments;
	call_tracker_emit(&event, RECORD_CALL, &thread->system_call->call, 0);
}

/* `error` is record.number: the error number, 0, or RECORD_NEVER. */
static void emit_return(struct syscalls *calls, struct thread *thread, int64_t error)
{
	struct system_call *own = thread->system_call;
	struct call_event event = make_event(calls, thread, 0);

	event.wall = own->ended;
	event.error = error;
	if (!own->is_left_out)
		call_tracker_emit(&event, RECORD_RETURN, &own->call, own->duration);
	own->state = CALL_NONE;
}

/* ------------------------------------------------------------------ entry and exit */

static uint64_t depth_of(const struct thread *thread, uint64_t sp)
{
	return thread->calls->stacks ? callstacks_depth_at(thread->calls->stacks, sp) : 0;
}

/*
 * Returns true if this entry is a call that was held back, made again by the kernel. There is not
 * always a stop for the tracer's interrupt: another stop may take its place (ptrace_stop()).
 */
static bool goes_on(const struct system_call *own, const struct arch *arch, uint64_t number)
{
	bool restarts = own->state == CALL_HELD && own->result != -EINTR;

	if ((own->state != CALL_INTERRUPTED && !restarts) || own->arch != arch)
		return false;
	return own->result == -KERNEL_ERESTART_RESTARTBLOCK
		       ? number == (uint64_t)arch->sys_restart_syscall
		       : number == own->number;
}

static void tell_held(struct syscalls *calls, struct thread *thread)
{
	const struct system_call *own = thread->system_call;

	if (own && (own->state == CALL_HELD || own->state == CALL_INTERRUPTED))
		emit_return(calls, thread, -own->result);
}

static void enter(struct syscalls *calls, struct thread *thread, const struct pt_syscall *info)
{
	const struct space *space = thread->process->space;
	const struct arch *arch = arch_find_calls(info->arch);
	struct system_call *own = thread->system_call;

	if (own && goes_on(own, arch, info->entry.number)) {
		own->state = CALL_ENTERED;
		return;
	}
	tell_held(calls, thread);
	if (own)
		own->state = CALL_NONE;
	if (!space || !arch)
		return;
	uint64_t arguments[ARGUMENTS], result_at = 0;

	memcpy(arguments, info->entry.arguments, sizeof arguments);
	const struct probe_site *site = calls->events.site(
		calls->events.context, space, arch, info->entry.number, arguments, &result_at);

	if (!site)
		return;
	if (!own)
		own = thread->system_call = xcalloc(1, sizeof *own);
	own->state = CALL_ENTERED;
	own->arch = arch;
	own->number = info->entry.number;
	own->first = info->entry.arguments[0];
	own->result_at = result_at;
	own->is_left_out = !sampling_chooses(&calls->random, site->plan->chosen_below);
	own->call = (struct call){.site = site, .cost = thread->calls->cost};
	if (own->is_left_out)
		return;
	own->call.origin = info->pc;
	own->call.depth = (uint32_t)depth_of(thread, info->sp);
	own->call.number = call_tracker_number(calls->tracker);
	own->call.stack = call_tracker_stack(calls->tracker, thread, NULL);
	emit_call(calls, thread, arguments);
}

/* Returns true if the call may have ended only because the tracer interrupted the thread. */
static bool may_go_on(const struct system_call *own, const struct pt_syscall *info)
{
	int64_t error = -info->exit.result;

	return info->exit.failed &&
	       ((error == EINTR && syscall_may_be_restarted(own->arch, own->number, own->first)) ||
		(error >= KERNEL_ERESTARTSYS && error <= KERNEL_ERESTARTNOHAND) ||
		error == KERNEL_ERESTART_RESTARTBLOCK);
}

static void leave(struct syscalls *calls, struct thread *thread, const struct pt_syscall *info,
		  uint64_t time)
{
	const struct call_event event = make_event(calls, thread, time);
	struct system_call *own = thread->system_call;

	if (!own || own->state != CALL_ENTERED)
		return;
	own->result = info->exit.result;
	own->ended = clock_wall_of_event(thread->process->tracees);
	own->duration = call_tracker_duration(&event, &own->call);
	if (may_go_on(own, info))
		own->state = CALL_HELD;
	else
		emit_return(calls, thread, info->exit.failed ? -info->exit.result : 0);
}

/* ------------------------------------------------------------------ stops */

/* The stop that began at `time` has been handled: excludes its cost from all durations. */
static void charge(struct syscalls *calls, struct thread *thread, const struct pt_syscall *info,
		   uint64_t time)
{
	struct system_call *own = thread->system_call;
	struct call_event event = make_event(calls, thread, time);
	const bool is_pending = info->op == PT_SYSCALL_ENTRY && own && own->state == CALL_ENTERED;

	if (own && !is_pending) {
		event.owed = own->call.owed;
		own->call.owed = 0;
	}
	call_tracker_resume(&event, info->sp, is_pending ? &own->call : NULL);
}

void syscalls_at_stop(struct syscalls *calls, struct thread *thread, uint64_t time)
{
	struct pt_syscall info;
	int error = pt_get_syscall(thread->tid, &info);

	if (error == -ESRCH)
		return;
	if (error && !calls->was_refused) {
		calls->was_refused = true;
		calls->events.refused(calls->events.context, error);
	}
	if (error)
		return;
	if (info.op == PT_SYSCALL_ENTRY)
		enter(calls, thread, &info);
	else if (info.op == PT_SYSCALL_EXIT)
		leave(calls, thread, &info, time);
	charge(calls, thread, &info, time);
}

void syscalls_answered(struct syscalls *calls, struct thread *thread, const struct regs *regs,
		       int64_t result)
{
	const struct arch *arch = thread->process->space->arch;
	struct pt_syscall entry = {.op = PT_SYSCALL_ENTRY,
				   .arch = arch->audit_arch,
				   .pc = regs->pc,
				   .sp = regs->r[REG_SP]};
	struct pt_syscall exit = {.op = PT_SYSCALL_EXIT};

	entry.entry.number = (uint32_t)regs->r[REG_AX];
	for (int i = 0; i < ARGUMENTS; i++)
		entry.entry.arguments[i] = regs->r[arch->syscall_arg[i]];
	exit.exit.result = result;
	exit.exit.failed = result < 0;
	enter(calls, thread, &entry);
	uint64_t now = clock_now();

	if (thread->system_call)
		thread->system_call->call.start = now;
	leave(calls, thread, &exit, now);
}

static bool never_returns(const struct system_call *own)
{
	return own->number == (uint64_t)own->arch->sys_exit ||
	       own->number == (uint64_t)own->arch->sys_exit_group;
}

void syscalls_before(struct syscalls *calls, struct thread *thread, enum stop_kind kind)
{
	struct system_call *own = thread->system_call;

	if (!own || kind == STOP_SYSCALL)
		return;
	if (kind == STOP_TRAP && own->state == CALL_HELD)
		own->state = CALL_INTERRUPTED;
	else if (kind != STOP_TRAP)
		tell_held(calls, thread);
	if (kind == STOP_ENDING && own->state == CALL_ENTERED && never_returns(own)) {
		own->result = 0;
		own->ended = clock_wall_of_event(thread->process->tracees);
		own->duration = 0;
		emit_return(calls, thread, RECORD_NEVER);
	}
}

void syscalls_exec(struct thread *thread, struct thread *former)
{
	if (former == thread || !former)
		return;
	free(thread->system_call);
	thread->system_call = former->system_call;
	former->system_call = NULL;
}
