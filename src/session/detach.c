/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detaching from processes, with their memory as it was found.
 *
 * Every thread of a space is stopped first, since a running thread could be in memory that the
 * tracer is about to unmap.
 *
 * A CLONE_VM child that is not followed cannot be restored, as its parent needs the patches: it is
 * detached at its exec (task_ends.c).
 */
#include "session/detach.h"

#include "engine/agent/return_addresses.h"
#include "engine/trap/leave.h"
#include "session/drain_threads.h"
#include "session/quiesce.h"
#include "session/session_state.h"
#include "session/task_ends.h"
#include "target/agent_policy.h"
#include "target/module_list.h"
#include "target/overwritten_sites.h"
#include "target/syscalls/syscalls.h"
#include "target/task_state.h"
#include "tracee/abandoned.h"
#include "tracee/ptrace.h"
#include "tracee/space.h"
#include "tracee/syscall_restart.h"
#include "tracee/tracee.h"

/* Detaches a stopped thread, and delivers the signal that it was stopped for. */
static void detach_thread(struct thread *thread, void *context)
{
	struct tracees *tracees = context;

	if (thread->state != THREAD_STOPPED) {
		abandoned_add(tracees, thread);
		thread_destroy(tracees, thread);
		return;
	}
	if (thread->stop == STOP_TRAP)
		thread_restart_call(thread);
	pt_detach(thread->tid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(tracees, thread);
}

void detach_child(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	if (process->space) {
		agent_restore_returns(process->space);
		trap_leave(session->target.tracees, process->space);
		task_drops_space(session, process->space);
	}
	process_each_thread(process, detach_thread, session->target.tracees);
}

void detach_process(struct session *session, pid_t pid)
{
	struct process *process = tracees_process(session->target.tracees, pid);

	if (process)
		/* Breakpoints that vanish after this are taken out by the tracer. */
		modules_check(&session->target, process->space, 0);
	each_neighbour(session, pid, system_calls_let_pass, NULL);
	drain_threads_run(session, pid);
	process = tracees_process(session->target.tracees, pid);
	struct space *space = process ? process->space : NULL;

	if (space) {
		space_ref(space);
		/* The reader's thread may have called exec. */
		space_forget_reader(space, space->reader);
		agent_policy_leave(&session->target, space);
		trap_leave(session->target.tracees, space);
		agent_space_gone(space);
		module_list_destroy(space->modules);
		space->modules = NULL;
	}
	each_neighbour(session, pid, detach_thread, session->target.tracees);
	space_unref(space);
}

static struct process *next_to_detach(const struct session *session, bool launched_too)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->target.tracees->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		if (launched_too || !process->session->of_command)
			return process;
	}
	return NULL;
}

void detach_all(struct session *session, bool launched_too)
{
	struct process *process;

	if (launched_too) {
		session->target.leaving = true;
		deferred_work_close(&session->target.work);
	}
	/* Children that are found on the way are processes of the list, too. */
	while ((process = next_to_detach(session, launched_too)))
		detach_process(session, process->pid);
}
