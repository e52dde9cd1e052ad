/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * New threads and children: whose memory they have, and who has our handler.
 *
 * Something may be under way already when a process is looked at for the first time: children that
 * live in its memory, and threads inside fork(2) or clone(2). Their children have the memory, or
 * the dispositions of signals, of some moment before; nothing may be planted until it is known
 * which.
 */
#include "engine/agent/agent.h"
#include "engine/trap/masks.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/unblock.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "session/private.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
 * from before the parent got our handler. It gets it before anything is planted. The parent stays
 * where it has announced it: in vfork(2) it could not be given another mask (masking_unblock()).
 */
static void guard_vforked(struct thread *thread, void *context)
{
	struct session *session = context;
	struct thread *child = tasks_announce_kept(session, thread);

	if (child && child->process->borrower &&
	    thread_stop(session->inferior, child, BORROWER_TIMEOUT_MS) == 0 &&
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

/*
 * Who slept when forks_pass() looked may have called vfork(2) since: the announcement waits to be
 * fetched, and so does the child, until the tracer's death at the latest.
 */
void forks_guard(struct session *session, struct thread *thread)
{
	process_each_thread(thread->process, pass_fork, thread);
	process_each_thread(thread->process, guard_vforked, session);
}

/* ------------------------------------------------------------------ new tasks */

static void give_space(struct session *session, struct thread *parent, struct process *child,
		       bool guess_shared)
{
	struct space *space = parent->process->space;
	bool follow = session->options->follow_forks && !parent->process->silent;
	int error = 0;

	if (same_space(parent->tid, child->pid, guess_shared)) {
		/* One space for one memory, also if it is made only later: forks_share_space(). */
		child->space = space ? space_ref(space) : NULL;
		if (space)
			agent_shared(space);
		if (!space)
			child->borrows = parent->process->borrows ? parent->process->borrows
								  : parent->process;
		child->borrower = true;
		child->silent = !follow;
		child->starting = false;
		return;
	}
	if (!space)
		return;
	child->space = space_create(child->pid, space->arch, &error);
	if (!child->space) {
		if (!proc_is_exiting(child->pid))
			untraced_process(session->untraced, child->pid,
					 "a child whose memory cannot be opened: %s",
					 strerror(-error));
		return;
	}
	space_bind(child->space, session->inferior);
	trap_fork(child->space, space);
	agent_fork(child->space, space);
	child->space->landing = space->landing;
	if (follow && space->modules)
		child->space->modules = modules_clone(session, space->modules);
	/* Not before its journal is whole: half of it is worse than none: the handler is there. */
	space_guard(child->space, session->guardian, child->pid);
}

/* Whether a task belongs to a thread group; not being allowed to signal it comes behind that. */
static bool is_member(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

void tasks_announced(struct session *session, const struct stop *stop)
{
	struct thread *parent = stop->thread;
	pid_t tid = (pid_t)stop->message;

	if (tid <= 0 || inferior_thread(session->inferior, tid))
		return;
	if (stop->kind == STOP_CLONE && is_member(parent->process->pid, tid)) {
		struct thread *made = thread_create(session->inferior, parent->process, tid);

		made->slot = parent->slot;
		agent_thread_made(session->agent, parent, made);
		masks_inherit(made, parent);
		unblock_inherit(made, parent);
		return;
	}
	struct process *child = process_create(session->inferior, tid);
	struct thread *thread = thread_create(session->inferior, child, tid);

	thread->slot = parent->slot; /* it starts where its parent is */
	masks_inherit(thread, parent);
	child->born = true;
	child->vforker = stop->kind == STOP_VFORK ? parent->tid : 0;
	child->starting = parent->process->starting;
	child->of_command = parent->process->of_command;
	sigtrap_inherit(child, parent->process);
	give_space(session, parent, child, stop->kind == STOP_VFORK);
	unblock_inherit(thread, parent);
	if (child->space && !child->silent && session->options->follow_forks)
		trap_fork_thread(thread, parent);
}

struct thread *tasks_announce_kept(struct session *session, struct thread *thread)
{
	struct stop stop = {.thread = thread};

	if (!thread->has_deferred)
		return NULL;
	stop.kind = stop_status_decode(thread->deferred_status).kind;
	if ((stop.kind != STOP_CLONE && stop.kind != STOP_VFORK) ||
	    pt_event_message(thread->tid, &stop.message) != 0)
		return NULL;
	tasks_announced(session, &stop);
	return inferior_thread(session->inferior, (pid_t)stop.message);
}
