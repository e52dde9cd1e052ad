/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks come and go.
 *
 * A child process has a copy of our patches (fork), or the very same memory (vfork,
 * posix_spawn, clone with CLONE_VM).
 *  - A followed fork child gets a copy of its parent's space: same breakpoints, modules,
 *    pending calls.
 *  - A fork child that is not followed is cleaned at its first stop and let go.
 *  - A child in its parent's memory that is not followed cannot be cleaned, as the parent needs
 *    the patches. It stays attached but silent: its breakpoint hits are passed over. When it
 *    execs it has memory of its own and is let go.
 *
 * After exec the thread is inside a system call. It is sent on with an interrupt pending, which
 * stops it before the first instruction of the new program: a clean stop, where remote calls
 * can be made.
 *
 * Detaching stops every thread of a space first, since a thread that runs could be in our
 * memory.
 */
#include "session/attaching.h"
#include "session/private.h"
#include "session/tables.h"

#include "engine/trap/sigtrap.h"
#include "engine/trap/unblock.h"
#include "inferior/limits.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <signal.h>

enum { STOP_SOON_MS = 20, STOP_TIMEOUT_MS = 2000 };

static void make_record(struct session *session, const struct thread *thread, enum record_kind kind,
			int64_t number)
{
	struct regs regs = {.pc = 0};

	if (kind == RECORD_SIGNAL)
		regs_load(thread->tid, &regs);
	struct record record = {.size = sizeof record,
				.version = RECORD_VERSION,
				.kind = kind,
				.pid = thread->process->pid,
				.tid = thread->tid,
				.time = inferior_event_wall_clock(session->inferior),
				.pc = regs.pc,
				.number = number};

	session_record(session, &record);
}

void tasks_announce(struct session *session, struct thread *thread)
{
	if (thread->announced || thread->process->silent)
		return;
	thread->announced = true;
	make_record(session, thread, RECORD_THREAD, 0);
}

/* ------------------------------------------------------------------ letting go */

/* Detaches a stopped thread, delivering what it was stopped for. */
static void detach_thread(struct thread *thread, void *context)
{
	struct inferior *inferior = context;

	if (thread->state != THREAD_STOPPED) {
		thread_abandon(inferior, thread);
		return;
	}
	if (thread->stop == STOP_TRAP)
		thread_retry_call(thread);
	pt_detach(thread->tid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(inferior, thread);
}

static void drop_space(struct session *session, struct space *space)
{
	if (space && space->references == 1) {
		inprocess_collect(session, space);
		agent_space_gone(space);
		trap_space_gone(space);
		modules_destroy(space->modules);
		space->modules = NULL;
	}
}

static void thread_is_gone(struct session *session, struct thread *thread, bool report)
{
	struct process *process = thread->process;

	agent_thread_gone(session->agent, thread);
	trap_thread_gone(session->trap, thread, report);
	if (process->threads == 1)
		drop_space(session, process->space);
	thread_destroy(session->inferior, thread);
}

/* A child that arrives with copies of our patches and is not to be traced. */
static void clean_and_detach(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	if (process->space) {
		agent_restore_returns(process->space);
		trap_leave(session->inferior, process->space);
		drop_space(session, process->space);
	}
	process_each_thread(process, detach_thread, session->inferior);
}

/* A new task's first stop. True when it was dealt with. */
static bool first_stop(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct process *process = thread->process;
	bool is_process = thread->tid == process->pid;

	if (is_process && !session->options->follow_forks && !process->silent) {
		clean_and_detach(session, thread);
		return true;
	}
	if (is_process && process->born) {
		if (process->space && process->space->references == 1)
			trap_forget_missing(process->space);
		sigtrap_born(thread);
	}
	if (!is_process)
		agent_thread_born(session->agent, thread);
	if (is_process && process->space && process->space->references == 1)
		agent_settle(session->agent, thread);
	if (is_process && process->space && process->space->references == 1)
		trap_complete(session->trap, thread);
	if (process->space && !process->starting)
		unblock_thread(thread);
	trap_thread_sync(thread);
	tasks_announce(session, thread);
	return false;
}

/* ------------------------------------------------------------------ exec */

struct exec_context {
	struct session *session;
};

static void forget_calls(struct thread *thread, void *context)
{
	struct exec_context *exec = context;

	trap_thread_gone(exec->session->trap, thread, false);
}

static void on_exec(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct process *process = thread->process;
	struct exec_context context = {session};
	bool first = process->launched && !process->space && !process->execed;

	masking_child_gone(session, process);
	unblock_undo(thread); /* its mask stays through exec, the journal does not */
	process_each_thread(process, forget_calls, &context);
	process_keep_only(session->inferior, process, thread);
	space_forget_reader(process->space, thread->tid);
	if (process->space)
		limits_restore(process->space, process->pid);
	drop_space(session, process->space);
	space_unref(process->space);
	process->space = NULL;
	/*
	 * A memory of its own from here on, also for those that it was about to share the old one
	 * with.
	 */
	process->borrows = NULL;
	process->borrower = false;
	process_end_lending(session->inferior, process);
	if (process->silent) {
		rights_check(session, thread);
		pt_detach(thread->tid, 0);
		thread_destroy(session->inferior, thread);
		return;
	}
	if (first)
		tasks_announce(session, thread);
	else
		make_record(session, thread, RECORD_EXEC, 0);
	thread->watch_generation = 0;
	process->starting = true;
	process->execed = true;
	pt_interrupt(thread->tid);
	thread_resume(thread, 0);
}

/* The first clean stop of a program that we have not looked at. */
static void start_program(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	process->starting = false;
	if (session->leaving)
		return;
	tasks_announce(session, thread);
	if (process->execed)
		rights_check(session, thread);
	/* Of one that ran before, not all may be planted at once: then later.c says it. */
	if (modules_start(session, thread, process->execed) == 0 && process->execed)
		attaching_done(session, process);
	prepare_done(session, process->pid);
	forks_share_space(session, process);
}

/* ------------------------------------------------------------------ the end of tasks */

static void note_result(struct session *session, const struct stop *stop)
{
	if (stop->kind == STOP_EXITED) {
		session->result->status = stop->signal;
	} else {
		session->result->signal = stop->signal;
		session->result->status = 128 + stop->signal;
	}
}

/*
 * A thread that ends by exit(2) has left its calls. One that is swept away with its process
 * (exit_group, exec of another thread, a signal) has not: they are unfinished. What has become of
 * the breakpoints is looked at while there is still memory to look at: by the last thread, or by
 * the one that ends them all, as one that is being made then may never stop.
 */
static void on_ending(struct session *session, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct regs regs;

	agent_thread_gone(session->agent, thread);
	bool is_last = thread_note_ending(thread);
	bool known = space && regs_load(thread->tid, &regs) == 0;

	if (is_last || (known && regs.syscall == (uint64_t)space->arch->sys_exit_group))
		modules_check(session, space, 0);
	if (known && thread->calls && regs.syscall == (uint64_t)space->arch->sys_exit)
		trap_thread_gone(session->trap, thread, true);
}

static void on_end(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct process *process = thread->process;
	bool whole = thread->tid == process->pid;

	if (whole) {
		masking_child_gone(session, process);
		/* The leader's status comes last. */
		if (process->launched)
			note_result(session, stop);
		/* Nothing about a process comes behind its end. */
		if (process->space && process->space->references == 1)
			inprocess_collect(session, process->space);
		if (!process->silent)
			make_record(session, thread,
				    stop->kind == STOP_EXITED ? RECORD_EXITED : RECORD_KILLED,
				    stop->signal);
		struct exec_context context = {session};

		process_each_thread(process, forget_calls, &context);
		process_keep_only(session->inferior, process, thread);
		thread_is_gone(session, thread, false);
		return;
	}
	if (!process->silent)
		make_record(session, thread, RECORD_THREAD_END, 0);
	thread_is_gone(session, thread, false);
}

/* ------------------------------------------------------------------ detaching */

struct settling {
	struct session *session;
	unsigned patience_ms;
	bool held_up; /* a thread has not stopped in that time */
	bool changed;
};

static void stop_for_detach(struct thread *thread, void *context)
{
	struct settling *settling = context;

	settling->held_up |= thread_stop(settling->session->inferior, thread,
					 settling->patience_ms) != 0;
}

/*
 * In the middle of the call that has made a task a thread can be detached, but no call can be made
 * through it, and it may be the only one. It is sent on to the end of that one, where the interrupt
 * waits; none of the program runs.
 */
static void stop_behind_call(struct thread *thread)
{
	pt_interrupt(thread->tid);
	thread_resume(thread, 0);
}

/*
 * A thread that was stopped for us may have been about to say that there is a new task, or that
 * it is gone or runs another program. That must be heard before the space can be left. Who is about
 * to end stays there, to be detached, unless another one waits for that in its exec.
 */
static void settle(struct thread *thread, void *context)
{
	struct settling *settling = context;
	struct session *session = settling->session;
	struct stop stop;

	if (settling->held_up)
		thread_look_for_end(thread);
	if (!thread->has_deferred)
		return;
	switch (stop_status_decode(thread->deferred_status).kind) {
	case STOP_CLONE:
	case STOP_FORK:
		thread_take_deferred(session->inferior, thread, &stop);
		tasks_announced(session, &stop);
		stop_behind_call(thread);
		break;
	case STOP_VFORK:
		thread_take_deferred(session->inferior, thread, &stop);
		tasks_announced(session, &stop);
		break;
	case STOP_EXEC:
		thread_take_deferred(session->inferior, thread, &stop);
		on_exec(session, &stop);
		break;
	case STOP_ENDING:
		on_ending(session, thread);
		if (!settling->held_up)
			return;
		thread_take_deferred(session->inferior, thread, &stop);
		thread_resume(thread, 0);
		break;
	case STOP_EXITED:
	case STOP_KILLED:
		thread_take_deferred(session->inferior, thread, &stop);
		on_end(session, &stop);
		break;
	default:
		return;
	}
	settling->changed = true;
}

/* Visits the threads of a process and of all that live in its memory, as far as that is known. */
static void each_neighbour(struct session *session, pid_t pid, thread_visit *visit, void *context)
{
	struct process *process = inferior_process(session->inferior, pid);

	if (process && process->space)
		space_each_thread(session->inferior, process->space, visit, context);
	else if (process)
		process_each_thread(process, visit, context);
}

void tasks_stop_all(struct session *session, pid_t pid)
{
	struct settling settling = {session, STOP_SOON_MS, false, true};

	while (settling.changed || (settling.held_up && settling.patience_ms == STOP_SOON_MS)) {
		if (!settling.changed)
			settling.patience_ms = STOP_TIMEOUT_MS;
		settling.held_up = settling.changed = false;
		each_neighbour(session, pid, stop_for_detach, &settling);
		each_neighbour(session, pid, settle, &settling);
	}
}

void tasks_let_go(struct session *session, pid_t pid)
{
	struct process *process = inferior_process(session->inferior, pid);

	if (process)
		modules_check(session, process->space,
			      0); /* what is taken out from here on, is by us */
	each_neighbour(session, pid, system_calls_let_pass, NULL);
	clearing_run(session, pid);
	process = inferior_process(session->inferior, pid);
	struct space *space = process ? process->space : NULL;

	if (space) {
		space_ref(space);
		space_forget_reader(space, space->reader); /* it may have exec'd since */
		inprocess_leave(session, space);
		trap_leave(session->inferior, space);
		agent_space_gone(space);
		modules_destroy(space->modules);
		space->modules = NULL;
	}
	each_neighbour(session, pid, detach_thread, session->inferior);
	space_unref(space);
}

static struct process *next_to_detach(const struct session *session, bool launched_too)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		if (launched_too || !process->of_command)
			return process;
	}
	return NULL;
}

void tasks_detach_all(struct session *session, bool launched_too)
{
	struct process *process;

	session->leaving |= launched_too;
	/* Children that turn up on the way are processes too. */
	while ((process = next_to_detach(session, launched_too)))
		tasks_let_go(session, process->pid);
}

/* ------------------------------------------------------------------ stops */

/* One that ends system calls also in an untraced process. */
static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * A program that has not been looked at yet is, as soon as that can be done. The interrupt that was
 * asked for may not come: any other stop takes its place (the kernel: ptrace_stop()).
 */
static void start_if_due(struct session *session, struct thread *thread)
{
	if (!thread->process->starting)
		return;
	if (thread->stop != STOP_TRAP)
		pt_interrupt(thread->tid);
	else if (!pt_trap_pending(thread->tid))
		start_program(session, thread);
}

/* A stop of no other meaning: what waits for one is done. */
static void on_trap(struct session *session, struct thread *thread)
{
	start_if_due(session, thread);
	if (thread->process->space && thread->stop == STOP_TRAP)
		masking_due(session, thread);
	if (thread->process->space && thread->process->space->modules)
		tables_plant(session, thread);
	if (thread->process->space)
		trap_thread_sync(thread);
	thread_retry_call(thread);
	thread_resume(thread, 0);
}

/*
 * A SIGTRAP for a thread that would block it, had it the mask that it believes to have. Now it has.
 */
static bool has_to_wait(struct thread *thread, int signal)
{
	siginfo_t info;
	uint64_t mask;

	if (signal != SIGTRAP || !thread->unblocked || pt_get_siginfo(thread->tid, &info) != 0 ||
	    info.si_code > 0)
		return false;
	unblock_undo(thread);
	return pt_get_sigmask(thread->tid, &mask) == 0 && mask & TRAP_BIT;
}

static void on_signal(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;

	if (thread->stop == STOP_SIGNAL)
		agent_before_signal(thread);
	if (thread->stop == STOP_SIGNAL)
		trap_before_signal(thread);
	if (thread->stop != STOP_SIGNAL) {
		/* It comes once more, and something else has been done meanwhile. */
		on_trap(session, thread);
		return;
	}
	bool waits = has_to_wait(thread, stop->signal);

	if (!is_stop_signal(stop->signal))
		thread_retry_call(thread);
	if (!thread->process->silent)
		make_record(session, thread, RECORD_SIGNAL, stop->signal);
	trap_thread_sync(thread);
	cores_before_signal(session, thread, stop->signal);
	if (stop->signal != SIGTRAP || waits || !sigtrap_deliver(thread))
		thread_resume(thread, stop->signal);
	else if (thread->state == THREAD_STOPPED && !thread->has_deferred)
		on_trap(session, thread); /* it has taken the place of one that was asked for */
}

void tasks_stop(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;

	if (stop->first && !stop_is_end(stop->kind) && first_stop(session, stop))
		return;
	if (debuggers_stop(session, thread))
		return;
	switch (stop->kind) {
	case STOP_SIGNAL:
		start_if_due(session, thread);
		on_signal(session, stop);
		break;
	case STOP_GROUP:
		thread_listen(thread);
		job_stopped(session, thread->process);
		break;
	case STOP_TRAP:
		on_trap(session, thread);
		break;
	case STOP_CLONE:
	case STOP_FORK:
	case STOP_VFORK:
		tasks_announced(session, stop);
		start_if_due(session, thread);
		thread_resume(thread, 0);
		break;
	case STOP_SYSCALL:
		trap_at_syscall(thread);
		start_if_due(session, thread);
		thread_resume(thread, 0);
		break;
	case STOP_OTHER:
		start_if_due(session, thread);
		thread_resume(thread, 0);
		break;
	case STOP_EXEC:
		on_exec(session, stop);
		break;
	case STOP_ENDING:
		on_ending(session, thread);
		thread_resume(thread, 0);
		break;
	case STOP_EXITED:
	case STOP_KILLED:
		on_end(session, stop);
		break;
	}
}
