/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of tasks and programs: exec and exit.
 *
 * After exec the thread is inside a system call. It is resumed with an interrupt pending, which
 * stops it before the first instruction of the new program: a safe stop, where remote calls can be
 * made.
 */
#include "session/task_ends.h"

#include "engine/agent/ring_drain.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/spaces.h"
#include "engine/trap/watch.h"
#include "session/rights.h"
#include "session/session_state.h"
#include "session/task_records.h"
#include "target/agent_policy.h"
#include "target/module_list.h"
#include "target/overwritten_sites.h"
#include "target/sigmask_hooks.h"
#include "target/task_state.h"
#include "tracee/limits.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/space.h"
#include "tracee/tracee.h"

void task_drops_space(struct session *session, struct space *space)
{
	if (space && space->references == 1) {
		agent_policy_collect(&session->target, space);
		agent_space_gone(space);
		trap_space_gone(space);
		module_list_destroy(space->modules);
		space->modules = NULL;
	}
	/* Also if others share it: what the process runs from now on is something else. */
	session->target.unloaded += space != NULL;
}

static void thread_is_gone(struct session *session, struct thread *thread, bool report)
{
	struct process *process = thread->process;

	agent_thread_gone(session->target.agent, thread);
	trap_thread_gone(session->target.trap, thread, report);
	if (process->threads == 1)
		task_drops_space(session, process->space);
	thread_destroy(session->target.tracees, thread);
}

struct exec_context {
	struct session *session;
};

static void forget_calls(struct thread *thread, void *context)
{
	struct exec_context *exec = context;

	trap_thread_gone(exec->session->target.trap, thread, false);
}

void task_execs(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct process *process = thread->process;
	struct exec_context context = {session};
	bool first = process->launched && !process->space && !process->session->execed;

	sigmask_hooks_child_gone(&session->target, process);
	sigmask_shadow_undo(thread); /* the mask survives exec, the journal does not */
	process_each_thread(process, forget_calls, &context);
	process_keep_only(session->target.tracees, process, thread);
	space_forget_reader(process->space, thread->tid);
	if (process->space)
		limits_restore(process->space, process->pid);
	/* While the calls that the exec has ended still have names for their callers. */
	if (!first && !process->silent)
		task_record(session, thread, RECORD_EXEC, 0);
	task_drops_space(session, process->space);
	space_unref(process->space);
	process->space = NULL;
	/*
	 * The process has memory of its own now, and so has each process that was waiting to share
	 * its old space.
	 */
	process->vm_parent = NULL;
	process->shares_parent_vm = false;
	process_end_lending(session->target.tracees, process);
	if (process->silent) {
		rights_check(session, thread);
		pt_detach(thread->tid, 0);
		thread_destroy(session->target.tracees, thread);
		return;
	}
	if (first)
		task_announce(session, thread);
	trap_forget_watched(thread);
	process->starting = true;
	process->session->execed = true;
	pt_interrupt(thread->tid);
	thread_resume(thread, 0);
}

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
 * A thread that ends by exit(2) has unwound its calls. One that ends with its process (exit_group,
 * exec of another thread, a signal) has not: its calls are unfinished.
 *
 * Overwritten breakpoints are looked for while the memory still exists: at the end of the last
 * thread, or of the thread that calls exit_group, as a thread that is being created then may never
 * stop.
 */
void task_is_ending(struct session *session, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct regs regs;

	agent_thread_gone(session->target.agent, thread);
	bool is_last = thread_note_ending(thread);
	bool known = space && regs_load(thread->tid, &regs) == 0;

	if (is_last || (known && regs.syscall == (uint64_t)space->arch->sys_exit_group))
		modules_check(&session->target, space, 0);
	if (known && trap_has_calls(thread) && regs.syscall == (uint64_t)space->arch->sys_exit)
		trap_thread_gone(session->target.trap, thread, true);
}

void task_has_ended(struct session *session, struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct process *process = thread->process;
	bool whole = thread->tid == process->pid;

	if (whole) {
		sigmask_hooks_child_gone(&session->target, process);
		/* The kernel reports the leader's exit status after that of all other threads. */
		if (process->launched)
			note_result(session, stop);
		/* No record about a process may follow the record of its end. */
		if (process->space && process->space->references == 1)
			agent_policy_collect(&session->target, process->space);
		if (!process->silent)
			task_record(session, thread,
				    stop->kind == STOP_EXITED ? RECORD_EXITED : RECORD_KILLED,
				    stop->signal);
		struct exec_context context = {session};

		process_each_thread(process, forget_calls, &context);
		process_keep_only(session->target.tracees, process, thread);
		thread_is_gone(session, thread, false);
		return;
	}
	if (!process->silent)
		task_record(session, thread, RECORD_THREAD_END, 0);
	thread_is_gone(session, thread, false);
}
