/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls.
 *
 * A thread that is resumed by PTRACE_SYSCALL stops when it enters a system call, and again when the
 * kernel is about to go back to the program. Which of the two it is, what is called and what came
 * of it is told by PTRACE_GET_SYSCALL_INFO, and so is the ABI: a program for x86_64 may make calls
 * of i386 by `int $0x80`. Nothing is guessed by counting stops. The values are captured by plans,
 * as those of functions are: what a plan takes for registers are the arguments in their order, and
 * the result.
 *
 * What the tracer has a thread do for itself (inferior/remote.c) is waited for there, up to its
 * end; no stop of it comes here. Where threads are waited for in other ways (thread_stop()), these
 * stops are passed on to us.
 *
 * Calls that are made again. When a signal, or our own interrupt, comes into a call that waits, it
 * ends with -ERESTARTSYS or another of these numbers. The program never sees them: the kernel then
 * decides whether it makes the call again or returns -EINTR to a handler. As the tracer interrupts
 * threads for its own ends, all of this would be in the trace though it means nothing to the
 * program. So the end of such a call is held back until the next stop shows why it has ended: a
 * signal, and it is told of first; an interrupt, or nothing, and if the thread then enters the same
 * call once more, that is no new one. A call that fails with EINTR where only we came in between
 * (inferior/retry.c) is held back, too.
 *
 *	entry ──► exit with a result ──► told
 *	      ──► exit, restarting ──► interrupt ──► entry of the same ──► …
 *	                           ──► a signal, or anything else ──► told: ? ERESTARTSYS
 *
 * exit(2) and exit_group(2) do not return. They are told to be over when the thread stops for its
 * end; all others that a thread is in when its process goes stay unfinished.
 *
 * exec(2) from a thread that is not the leader goes on as the leader. What was captured at its
 * entry is part of its block; there is no memory of the old program to read for its end.
 *
 * Time is counted as for functions (trap.c): from the moment before the thread goes on to that at
 * which the second stop is told, less what a pair of stops costs; and each stop is part of
 * thread->cost, which is taken off the functions around it.
 */
#include "engine/syscall/syscall.h"

#include "base/xalloc.h"
#include "engine/trap/callstack.h"
#include "engine/trap/told.h"
#include "inferior/ptrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES = 65536, ARGUMENTS = 6 };

/* Results by which the kernel says that a call is to be made again (linux/errno.h). */
enum { KERNEL_ERESTARTSYS = 512, KERNEL_ERESTARTNOHAND = 514, KERNEL_ERESTART_RESTARTBLOCK = 516 };

struct syscalls {
	struct trap *trap;
	struct syscall_events events;
	bool was_refused;
	unsigned char *buffer; /* the record under construction */
};

enum call_state {
	CALL_NONE,
	CALL_ENTERED,
	CALL_HELD,	 /* it ended in a way that may be our doing */
	CALL_INTERRUPTED /* it was */
};

struct system_call {
	enum call_state state;
	const struct arch *arch;
	uint64_t number, first; /* its first argument */
	struct call call;	/* of which the stack is not used */
	struct capture_saved saved;
	uint64_t result_at; /* not 0: where the kernel stores the result */
	int64_t result;	    /* HELD, INTERRUPTED */
	uint64_t duration, ended;
};

static void no_memory(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		ranges[i].done = 0;
}

struct syscalls *syscalls_create(struct trap *trap, const struct syscall_events *events)
{
	struct syscalls *calls = xcalloc(1, sizeof *calls);

	calls->trap = trap;
	calls->events = *events;
	calls->buffer = xmalloc(RECORD_BYTES);
	return calls;
}

void syscalls_destroy(struct syscalls *calls)
{
	if (!calls)
		return;
	free(calls->buffer);
	free(calls);
}

/* ------------------------------------------------------------------ records */

static struct record *begin_record(struct syscalls *calls, enum record_kind kind,
				   const struct thread *thread, uint64_t time)
{
	struct record *record = (struct record *)(void *)calls->buffer;

	*record = (struct record){.size = sizeof *record};
	call_record_fill(record, kind, thread, &thread->system_call->call, time);
	return record;
}

static void emit(const struct syscalls *calls, const struct record *record)
{
	const struct engine_events *events = trap_events(calls->trap);

	events->record(events->context, record);
}

static void emit_call(struct syscalls *calls, const struct thread *thread,
		      const uint64_t arguments[ARGUMENTS])
{
	const struct capture_plan *plan = thread->system_call->call.site->plan;
	struct capture_buffer buffer = {calls->buffer, RECORD_BYTES};
	struct record *record = begin_record(calls, RECORD_CALL, thread,
					     inferior_event_wall_clock(thread->process->inferior));
	uint64_t registers[REG_COUNT] = {0};
	const struct capture_frame frame = {.gpr = registers,
					    .memory = &thread->process->space->readable};

	memcpy(registers, arguments, ARGUMENTS * sizeof *arguments);
	if (plan->entry_count || plan->needs_saved)
		capture_entry(plan, &frame, &buffer, &thread->system_call->saved);
	emit(calls, record);
}

static bool is_filled(const struct capture_plan *plan, const struct capture_op *op)
{
	return op->argument == VALUE_RESULT || (plan->outputs >> (op->argument & VALUE_INDEX) & 1);
}

/*
 * The kernel has filled nothing if the call failed: as nothing can be read then, pointers to what
 * it would have filled are shown as such, and all of them where there is no memory any more. The
 * length that a result would be is not taken for nothing, which would be an empty string.
 */
static void capture_failure(const struct system_call *own, const struct space *space,
			    struct capture_buffer *buffer)
{
	static const struct memory_source nowhere = {.readv = no_memory};
	const struct capture_plan *plan = own->call.site->plan;
	uint64_t registers[REG_COUNT] = {[REG_AX] = 1};
	struct record *record = (struct record *)(void *)buffer->bytes;

	unsigned made = 0;

	/* Each makes one value at least, but for those with a condition, or the record is full. */
	for (unsigned i = 0; i < plan->exit_count && record->value_count >= made; i++) {
		bool is_readable = space && !is_filled(plan, &plan->exit[i]);
		const struct capture_frame frame = {
			.gpr = registers, .memory = is_readable ? &space->readable : &nowhere};

		capture_exit_some(plan, i, 1, &frame, &own->saved, buffer);
		made += !plan->exit[i].choices;
	}
	struct record_value *result = (struct record_value *)(void *)(record + 1);

	if (record->value_count && result->argument == VALUE_RESULT)
		result->word = (uint64_t)own->result;
}

/* The result of a call that has succeeded; that of the call itself where the other is not found. */
static uint64_t result_of(const struct system_call *own, const struct space *space)
{
	uint64_t stored = 0;

	if (own->result_at &&
	    memory_read_exact(&space->memory, own->result_at, &stored, own->arch->abi->word))
		return stored;
	return (uint64_t)own->result;
}

static void emit_return(struct syscalls *calls, struct thread *thread, int64_t number)
{
	struct system_call *own = thread->system_call;
	const struct capture_plan *plan = own->call.site->plan;
	const struct space *space = thread->process->space;
	struct capture_buffer buffer = {calls->buffer, RECORD_BYTES};
	struct record *record = begin_record(calls, RECORD_RETURN, thread, own->ended);
	uint64_t registers[REG_COUNT] = {0};

	record->duration = own->duration;
	record->number = number;
	if (plan->exit_count && (number || !space)) {
		capture_failure(own, space, &buffer);
	} else if (plan->exit_count) {
		const struct capture_frame frame = {.gpr = registers, .memory = &space->readable};

		registers[REG_AX] = result_of(own, space);
		capture_exit(plan, &frame, &own->saved, &buffer);
	}
	emit(calls, record);
	own->state = CALL_NONE;
}

/* ------------------------------------------------------------------ entry and exit */

static uint64_t depth_of(const struct thread *thread, uint64_t sp)
{
	return thread->calls ? callstacks_depth_at(thread->calls, sp) : 0;
}

/*
 * Whether the kernel makes a call again that was held back. The stop for our interrupt does not
 * always come: another one that the thread was about to make takes its place (ptrace_stop()).
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
	own->call = (struct call){.site = site,
				  .origin = info->pc,
				  .depth = (uint32_t)depth_of(thread, info->sp),
				  .number = trap_number_call(calls->trap),
				  .cost = thread->cost};
	emit_call(calls, thread, arguments);
}

/* Whether the call may have ended only because the thread was interrupted. */
static bool may_go_on(const struct system_call *own, const struct pt_syscall *info)
{
	int64_t error = -info->exit.result;

	return info->exit.failed &&
	       ((error == EINTR && syscall_may_be_retried(own->arch, own->number, own->first)) ||
		(error >= KERNEL_ERESTARTSYS && error <= KERNEL_ERESTARTNOHAND) ||
		error == KERNEL_ERESTART_RESTARTBLOCK);
}

static void leave(struct syscalls *calls, struct thread *thread, const struct pt_syscall *info,
		  uint64_t time)
{
	struct system_call *own = thread->system_call;

	if (!own || own->state != CALL_ENTERED)
		return;
	own->result = info->exit.result;
	own->ended = inferior_event_wall_clock(thread->process->inferior);
	own->duration = trap_time_of_call(calls->trap, time - own->call.start,
					  thread->cost - own->call.cost);
	if (may_go_on(own, info))
		own->state = CALL_HELD;
	else
		emit_return(calls, thread, info->exit.failed ? -info->exit.result : 0);
}

/* ------------------------------------------------------------------ stops */

/* The stop of `time` has been served: what it took is nobody's time. */
static void charge(const struct syscalls *calls, struct thread *thread,
		   const struct pt_syscall *info, uint64_t time)
{
	struct call *call = thread->system_call ? &thread->system_call->call : NULL;
	bool pending = info->op == PT_SYSCALL_ENTRY && call &&
		       thread->system_call->state == CALL_ENTERED;

	if (!pending)
		trap_delayed(calls->trap, thread, info->sp, time - (call ? call->owed : 0));
	uint64_t now = inferior_clock();
	uint64_t took = now - time + trap_cost_of_stop(calls->trap);

	thread->cost += took;
	if (!call)
		return;
	call->owed = pending ? took : 0;
	if (!pending)
		return;
	call->start = now;
	call->cost = thread->cost;
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
	uint64_t now = inferior_clock();

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
		own->ended = inferior_event_wall_clock(thread->process->inferior);
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
