/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is under way when a process is looked at for the first time: children that live in its
 * memory, and threads inside fork(2) or clone(2). Their children have the memory, or the
 * dispositions of signals, of some moment before; nothing may be planted until it is known which,
 * and who has our handler.
 */
#include "engine/agent/agent.h"
#include "engine/trap/sigtrap.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "session/private.h"

#include <string.h>

enum { FORK_TIMEOUT_MS = 1000, BORROWER_TIMEOUT_MS = 1000, ROUNDS = 100 };

/*
 * A process that lives in the memory of `owner`. Its dispositions of signals are its own, so it
 * gets our handler too, before anything is planted; unless it is about to be left.
 */
static void share_space(struct session *session, struct process *child, struct process *owner)
{
	struct thread *thread = inferior_thread(session->inferior, child->pid);
	bool stopped = thread && !session->leaving &&
		       thread_stop(session->inferior, thread, BORROWER_TIMEOUT_MS) == 0;

	if (!same_space(owner->pid, child->pid, true))
		return; /* it has exec'd meanwhile */
	child->space = space_ref(owner->space);
	agent_shared(child->space);
	if (stopped && thread_is_clean_stop(thread) && !pt_trap_pending(thread->tid))
		sigtrap_begin(thread);
}

void forks_share_space(struct session *session, struct process *owner)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct process *child = value;

		if (child->borrows != owner)
			continue;
		child->borrows = NULL;
		if (owner->space)
			share_space(session, child, owner);
	}
}

/*
 * A thread that was in fork(2) when it was seized has a child that is not attached, with the memory
 * as it is at some moment until the thread comes back. No patch may be in it. (Threads that sleep
 * are not in there; see proc(5) for the letters.)
 */
static void pass_fork(struct thread *thread, void *context)
{
	if (thread != context && thread->state == THREAD_RUNNING &&
	    strchr("RDt", proc_state(thread->tid)))
		thread_stop(thread->process->inferior, thread, FORK_TIMEOUT_MS);
}

/*
 * A child that was announced meanwhile and lives in the memory of its parent may have dispositions
 * from before the parent got our handler. It gets it before anything is planted.
 */
static void guard_vforked(struct thread *thread, void *context)
{
	struct session *session = context;
	struct stop stop;

	if (!thread->has_deferred || stop_status_decode(thread->deferred_status).kind != STOP_VFORK)
		return;
	thread_take_deferred(session->inferior, thread, &stop);
	tasks_announced(session, &stop);
	thread_resume(thread, 0);
	struct thread *child = inferior_thread(session->inferior, (pid_t)stop.message);

	if (child && thread_stop(session->inferior, child, BORROWER_TIMEOUT_MS) == 0 &&
	    thread_is_clean_stop(child) && !pt_trap_pending(child->tid))
		sigtrap_born(child);
}

void forks_pass(struct thread *thread)
{
	struct process *process = thread->process;
	int rounds = 0;

	do
		process_each_thread(process, pass_fork, thread);
	while (inferior_seize_new(process->inferior, process) > 0 && ++rounds < ROUNDS);
}

void forks_guard(struct session *session, struct process *process)
{
	process_each_thread(process, guard_vforked, session);
}
