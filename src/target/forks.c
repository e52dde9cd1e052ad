/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * New threads and children: whose memory they have, and which of them have the tracer's SIGTRAP
 * handler.
 *
 * When a process is read for the first time, it may already have children that share its memory,
 * and threads inside fork(2) or clone(2). The children of these threads have the memory, or the
 * signal dispositions, of some earlier moment. Nothing may be planted until it is known which.
 */
#include "target/forks.h"

#include "engine/agent/agent.h"
#include "engine/agent/ring_drain.h"
#include "engine/trap/sigmask_history.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/spaces.h"
#include "recovery/guardian.h"
#include "recovery/remote_call_recovery.h"
#include "target/module_list.h"
#include "target/target_state.h"
#include "target/task_state.h"
#include "tracee/attach.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/space.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FORK_TIMEOUT_MS = 1000, VM_CHILD_TIMEOUT_MS = 1000, ROUNDS = 100 };

/*
 * Gives a child that shares the memory of `owner` its space. The child's dispositions are its own,
 * so it also gets the tracer's handler, before anything is planted, unless the session is leaving.
 */
static void share_space(struct target *target, struct process *child, struct process *owner)
{
	struct thread *thread = tracees_thread(target->tracees, child->pid);
	bool stopped = thread && !target->leaving &&
		       thread_stop(target->tracees, thread, VM_CHILD_TIMEOUT_MS) == 0;

	if (!same_space(owner->pid, child->pid, true))
		return; /* it has called exec meanwhile */
	child->space = space_ref(owner->space);
	agent_shared(child->space);
	if (stopped && thread_is_safe_stop(thread) && !pt_trap_pending(thread->tid))
		sigtrap_begin(thread);
}

void forks_share_space(struct target *target, struct process *owner)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&target->tracees->processes, &cursor, NULL, &value)) {
		struct process *child = value;

		if (child->vm_parent != owner)
			continue;
		child->vm_parent = NULL;
		if (owner->space)
			share_space(target, child, owner);
	}
}

/*
 * A thread that was in fork(2) when it was seized makes a child that is not attached, with the
 * memory of some moment before the thread returns. No patch may be in that memory. (Sleeping
 * threads are not in fork(2); proc(5) has the letters of thread states.)
 */
static void pass_fork(struct thread *thread, void *context)
{
	if (thread != context && thread->state == THREAD_RUNNING &&
	    strchr("RDt", proc_state(thread->tid)))
		thread_stop(thread->process->tracees, thread, FORK_TIMEOUT_MS);
}

/*
 * A CLONE_VM child that was announced meanwhile may have dispositions from before its parent got
 * the tracer's handler. It gets the handler before anything is planted. The parent stays at its
 * event stop: in vfork(2) it could not be given another mask (sigmask_hooks_unblock()).
 */
static void guard_vforked(struct thread *thread, void *context)
{
	struct target *target = context;
	struct thread *child = tasks_announce_kept(target, thread);

	if (child && child->process->shares_parent_vm &&
	    thread_stop(target->tracees, child, VM_CHILD_TIMEOUT_MS) == 0 &&
	    thread_is_safe_stop(child) && !pt_trap_pending(child->tid))
		sigtrap_born(child);
}

void forks_pass(struct thread *thread)
{
	struct process *process = thread->process;
	int rounds = 0;

	do
		process_each_thread(process, pass_fork, thread);
	while (tracees_seize_new(process->tracees, process) > 0 && ++rounds < ROUNDS);
}

/*
 * A thread that slept during forks_pass() may have called vfork(2) since. Its event stop waits to
 * be fetched, and the child is kept stopped, until the tracer handles them or dies.
 */
void forks_guard(struct target *target, struct thread *thread)
{
	process_each_thread(thread->process, pass_fork, thread);
	process_each_thread(thread->process, guard_vforked, target);
}

/* ------------------------------------------------------------------ new tasks */

static void give_space(struct target *target, struct thread *parent, struct process *child,
		       bool guess_shared)
{
	struct space *space = parent->process->space;
	bool follow = target->options->follow_forks && !parent->process->silent;
	int error = 0;

	if (same_space(parent->tid, child->pid, guess_shared)) {
		/*
		 * All processes in one memory have one space, even if it is made later:
		 * forks_share_space().
		 */
		child->space = space ? space_ref(space) : NULL;
		if (space)
			agent_shared(space);
		if (!space)
			child->vm_parent = parent->process->vm_parent ? parent->process->vm_parent
								      : parent->process;
		child->shares_parent_vm = true;
		child->silent = !follow;
		child->starting = false;
		return;
	}
	if (!space)
		return;
	child->space = space_create(child->pid, space->arch, &error);
	if (!child->space) {
		if (!proc_is_exiting(child->pid))
			untraced_process(target->untraced, child->pid,
					 "a child whose memory cannot be opened: %s",
					 strerror(-error));
		return;
	}
	space_bind(child->space, target->tracees);
	trap_fork(child->space, space);
	agent_fork(child->space, space);
	child->space->remote_stub = space->remote_stub;
	if (follow && space->modules)
		child->space->modules = module_list_clone(target, space->modules);
	/*
	 * The guardian gets the journal only when it is complete: an incomplete one is worse than
	 * none, as the child has the SIGTRAP handler.
	 */
	guardian_hold(target->guardian, child->space, child->pid);
}

/*
 * Returns true if a task belongs to a thread group. The kernel checks that before the right to
 * signal it, so EPERM means yes.
 */
static bool is_member(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

void tasks_announced(struct target *target, const struct stop *stop)
{
	struct thread *parent = stop->thread;
	pid_t tid = (pid_t)stop->message;

	if (tid <= 0 || tracees_thread(target->tracees, tid))
		return;
	if (stop->kind == STOP_CLONE && is_member(parent->process->pid, tid)) {
		struct thread *made = thread_create(target->tracees, parent->process, tid);

		trap_thread_made(parent, made);
		agent_thread_made(target->agent, parent, made);
		sigmask_inherit(made, parent);
		sigmask_shadow_inherit(made, parent);
		return;
	}
	struct process *child = process_create(target->tracees, tid);
	struct thread *thread = thread_create(target->tracees, child, tid);

	trap_thread_made(parent, thread);
	sigmask_inherit(thread, parent);
	child->session->born = true;
	child->session->vforker = stop->kind == STOP_VFORK ? parent->tid : 0;
	child->starting = parent->process->starting;
	child->session->of_command = parent->process->session->of_command;
	sigtrap_inherit(child, parent->process);
	give_space(target, parent, child, stop->kind == STOP_VFORK);
	sigmask_shadow_inherit(thread, parent);
	if (child->space && !child->silent && target->options->follow_forks)
		trap_fork_thread(thread, parent);
}

static void leave_alone(struct thread *thread, void *context)
{
	struct target *target = context;
	unsigned long pid;

	if (!thread->has_deferred ||
	    stop_status_decode(thread->deferred_status).kind != STOP_FORK ||
	    pt_event_message(thread->tid, &pid) != 0 || !pid ||
	    tracees_thread(target->tracees, (pid_t)pid))
		return;
	struct process *child = process_create(target->tracees, (pid_t)pid);

	thread_create(target->tracees, child, (pid_t)pid);
	child->session->born = true;
	child->starting = true;
	child->session->of_command = thread->process->session->of_command;
}

static void put_back(struct thread *thread, void *context)
{
	(void)context;
	if (thread->state == THREAD_STOPPED)
		remote_call_recovery_put_back(thread);
}

/* Only what a tracer has installed, or the program itself, handles SIGTRAP. */
static bool has_handler(const struct thread *thread)
{
	uint64_t ignored, caught;

	return proc_signals(thread->tid, &ignored, &caught) && caught & TRAP_BIT;
}

void forks_stop_orphan(struct target *target, struct thread *thread, bool has_units)
{
	if (!has_units && !has_handler(thread))
		return;
	agent_stop_others(thread); /* a thread that does not stop is in the kernel */
	process_each_thread(thread->process, leave_alone, target);
	process_each_thread(thread->process, put_back, NULL);
}

struct thread *tasks_announce_kept(struct target *target, struct thread *thread)
{
	struct stop stop = {.thread = thread};

	if (!thread->has_deferred)
		return NULL;
	stop.kind = stop_status_decode(thread->deferred_status).kind;
	if ((stop.kind != STOP_CLONE && stop.kind != STOP_VFORK) ||
	    pt_event_message(thread->tid, &stop.message) != 0)
		return NULL;
	tasks_announced(target, &stop);
	return tracees_thread(target->tracees, (pid_t)stop.message);
}
