/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks come and go.
 *
 * A child process has a copy of the tracer's patches (fork), or the same memory (vfork,
 * posix_spawn, clone with CLONE_VM).
 *
 * - A fork child that is followed gets a copy of its parent's space: breakpoints, modules, pending
 * calls.
 *
 * - A fork child that is not followed is restored and detached at its first stop.
 *
 * - A CLONE_VM child that is not followed cannot be restored, as its parent needs the patches. It
 * stays attached but silent: it is resumed at each breakpoint without a record. At its exec, which
 * gives it memory of its own, it is detached.
 */
#include "session/tasks.h"

#include "engine/agent/agent.h"
#include "engine/agent/agent_signals.h"
#include "engine/trap/fork_child.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/sigtrap_delivery.h"
#include "engine/trap/watch.h"
#include "engine/trap/xol_signals.h"
#include "session/attaching.h"
#include "session/core_dumps.h"
#include "session/debuggers.h"
#include "session/detach.h"
#include "session/job_control.h"
#include "session/rights.h"
#include "session/session_state.h"
#include "session/task_ends.h"
#include "session/task_records.h"
#include "target/forks.h"
#include "target/modules.h"
#include "target/prefetched.h"
#include "target/task_state.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/syscall_restart.h"
#include "tracee/tracee.h"

#include <signal.h>

/* ------------------------------------------------------------------ new tasks */

/* Handles a new task's first stop. Returns true if nothing else is to be done at it. */
static bool first_stop(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct process *process = thread->process;
	bool is_process = thread->tid == process->pid;

	if (is_process && !session->target.options->follow_forks && !process->silent) {
		detach_child(session, thread);
		return true;
	}
	if (is_process && process->session->born) {
		if (process->space && process->space->references == 1)
			trap_forget_missing(process->space);
		sigtrap_born(thread);
	}
	if (!is_process)
		agent_thread_born(session->target.agent, thread);
	if (is_process && process->space && process->space->references == 1)
		agent_settle(session->target.agent, thread);
	if (is_process && process->space && process->space->references == 1)
		trap_complete(session->target.trap, thread);
	if (process->space && !process->starting)
		sigmask_shadow_thread(thread);
	trap_thread_sync(thread);
	task_announce(session, thread);
	return false;
}

/* ------------------------------------------------------------------ new programs */

/* Reads a program that has not been read yet, at its first safe stop. */
static void start_program(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	process->starting = false;
	if (session->target.leaving)
		return;
	task_announce(session, thread);
	if (process->session->execed)
		rights_check(session, thread);
	/*
	 * In a process that ran before, some functions may be left for later stops; then
	 * deferred_planting.c calls attaching_done().
	 */
	if (modules_start(&session->target, thread, process->session->execed) == 0 &&
	    process->session->execed)
		attaching_done(session, process);
	prefetched_done(&session->target, process->pid);
	forks_share_space(&session->target, process);
}

/* ------------------------------------------------------------------ stops */

/* Returns true for the signals that end system calls also in an untraced process. */
static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * Reads a program that has not been read yet, as soon as the thread is at a safe stop. The
 * interrupt that was asked for may never be reported: any other stop takes its place (ptrace_stop()
 * in the kernel). So it is asked for again.
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

/* A stop that means nothing by itself: work that waits for a safe stop is done. */
static void on_trap(struct session *session, struct thread *thread)
{
	start_if_due(session, thread);
	deferred_work_at_trap(&session->target.work, thread);
	if (thread->process->space)
		trap_thread_sync(thread);
	thread_restart_call(thread);
	thread_resume(thread, 0);
}

/*
 * Returns true for a SIGTRAP that the thread would block if it had the mask that the program has
 * set. The thread gets that mask now.
 */
static bool has_to_wait(struct thread *thread, int signal)
{
	siginfo_t info;
	uint64_t mask;

	if (signal != SIGTRAP || !sigmask_shadow_is_given(thread) ||
	    pt_get_siginfo(thread->tid, &info) != 0 || info.si_code > 0)
		return false;
	sigmask_shadow_undo(thread);
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
		/*
		 * The signal will be reported again; the thread is at another kind of stop by now.
		 */
		on_trap(session, thread);
		return;
	}
	bool waits = has_to_wait(thread, stop->signal);

	if (!is_stop_signal(stop->signal))
		thread_restart_call(thread);
	if (!thread->process->silent)
		task_record(session, thread, RECORD_SIGNAL, stop->signal);
	trap_thread_sync(thread);
	core_dumps_before_signal(session, thread, stop->signal);
	if (stop->signal != SIGTRAP || waits || !sigtrap_deliver(thread))
		thread_resume(thread, stop->signal);
	else if (thread->state == THREAD_STOPPED && !thread->has_deferred)
		on_trap(session, thread); /* this stop was reported instead of an interrupt */
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
		tasks_announced(&session->target, stop);
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
		task_execs(session, stop);
		break;
	case STOP_ENDING:
		task_is_ending(session, thread);
		thread_resume(thread, 0);
		break;
	case STOP_EXITED:
	case STOP_KILLED:
		task_has_ended(session, stop);
		break;
	}
}
