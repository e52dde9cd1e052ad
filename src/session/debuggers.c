/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that use ptrace(2) themselves.
 *
 * A task has one tracer. A debugger that is traced must be able to debug nevertheless, and a
 * program that looks whether it is debugged must be told what it would be told without us. So
 * libc's ptrace() is hooked, and what it is about to ask for says what to do:
 *
 *  - A debugger attaches to a task of ours (PTRACE_ATTACH, PTRACE_SEIZE). That one's process is let
 *    go, before the request is made.
 *
 *  - A child asks to be traced by its parent (PTRACE_TRACEME) before it execs, as debuggers start
 *    their programs. It is let go: not from within the hook, but at the stop that comes before
 *    its next instruction.
 *
 *  - The same from a child in vfork(2), which lives in its parent's memory and runs through places
 *    where we have planted: the stops would be its debugger's now, who sits in vfork(2) and
 *    would never serve them. All patches are taken out of that memory until the parent comes
 *    back, which does not take long: the child is about to exec. The other threads are kept
 *    stopped meanwhile, so nothing is missed.
 *
 *  - A program that was launched, attached to, or exec'd asks for it: its parent is no debugger.
 *    (The parent of a command is the tracer, even.) Such programs want to know whether they are
 *    debugged. They hear that their parent traces them now, as they would without us, and from
 *    then on that this cannot be done a second time, which is the kernel's own answer.
 *
 * Not seen: system calls that do not go through libc's ptrace(). They fail (EPERM), as the world
 * has it that there is one tracer. So do those of debuggers that are not traced themselves.
 */
#include "session/private.h"

#include "engine/trap/stackview.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <stddef.h>
#include <sys/ptrace.h>

/* How long the other threads wait for the exec of a child that asked to be traced. */
enum { STOP_MS = 200, EXEC_TRIES = 20 /* of 50 ms: thread_stop() of one that cannot be */ };

/* ------------------------------------------------------------------ requests */

static void debugger_comes(struct session *session, const struct thread *debugger, pid_t tid)
{
	const struct thread *wanted = inferior_thread(session->inferior, tid);

	/* The number means something else to it, or the request will fail anyway. */
	if (!wanted || wanted->process->space == debugger->process->space ||
	    !proc_sees_our_pids(debugger->tid))
		return;
	pid_t pid = wanted->process->pid;

	untraced_process(session->untraced, pid, "let go: process %d debugs it",
			 (int)debugger->process->pid);
	tasks_let_go(session, pid);
}

/* True: the kernel is not asked, it is done already. */
static bool wants_to_be_traced(struct thread *thread)
{
	struct process *process = thread->process;

	if (process->born && !process->execed) {
		process->let_go = true;
		pt_interrupt(thread->tid);
		return false;
	}
	bool first = !process->pretends;

	process->pretends = true;
	return first;
}

static bool ptrace_called(struct hook *hook, struct thread *thread, const struct regs *regs,
			  uint64_t *result)
{
	struct session *session =
		(struct session *)(void *)((char *)hook - offsetof(struct session, ptrace));
	const struct space *space = thread->process->space;

	*result = 0;
	switch ((int)stackview_argument(space, regs, 0)) {
	case PTRACE_ATTACH:
	case PTRACE_SEIZE:
		debugger_comes(session, thread, (pid_t)stackview_argument(space, regs, 1));
		return false;
	case PTRACE_TRACEME:
		return wants_to_be_traced(thread);
	default:
		return false;
	}
}

void debuggers_init(struct session *session)
{
	session->ptrace.intercept = ptrace_called;
}

/* ------------------------------------------------------------------ letting go */

struct handover {
	const struct thread *child;
	const struct thread *parent;
};

static void stop_other(struct thread *thread, void *context)
{
	const struct handover *handover = context;

	if (thread != handover->child && thread != handover->parent)
		thread_stop(thread->process->inferior, thread, STOP_MS);
}

/* Lets a child in vfork(2) go, which is at a clean stop. */
static void hand_over(struct session *session, struct thread *child, struct thread *parent)
{
	struct space *space = child->process->space;
	struct handover handover = {child, parent};
	pid_t pid = child->process->pid;
	int error = -1;

	space_each_thread(session->inferior, space, stop_other, &handover);
	trap_suspend(space);
	trap_before_signal(child);
	if (child->watch_generation)
		pt_set_debug_register(child->tid, 7, 0);
	trap_thread_gone(session->trap, child, false);
	/* First of all the parent: it runs on as soon as the child has its own memory. */
	pt_interrupt(parent->tid);
	pt_detach(child->tid, child->stop == STOP_SIGNAL ? child->stop_signal : 0);
	thread_destroy(session->inferior, child);
	for (int tries = 0; error && tries < EXEC_TRIES; tries++)
		error = thread_stop(session->inferior, parent, STOP_MS);
	if (!error) {
		trap_restore(space);
		return;
	}
	space->modules->suspended_for = parent->tid;
	untraced_process(session->untraced, parent->process->pid,
			 "calls made while its child %d, which it debugs, is in vfork(2)",
			 (int)pid);
}

static void restore_if_due(const struct thread *thread)
{
	struct space *space = thread->process->space;

	/* With its end, all is over: see cores.c, too. */
	if (!space || !space->modules || space->modules->suspended_for != thread->tid ||
	    thread->stop == STOP_ENDING || stop_is_end(thread->stop))
		return;
	space->modules->suspended_for = 0;
	trap_restore(space);
}

bool debuggers_stop(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	restore_if_due(thread);
	if (!process->let_go || !thread_is_clean_stop(thread))
		return false;
	struct thread *waiting = inferior_thread(session->inferior, process->vforker);

	process->let_go = false;
	if (!process->silent)
		untraced_process(session->untraced, process->pid, "let go: its parent debugs it");
	if (process->space && process->space->references > 1) {
		if (!waiting || waiting->process->space != process->space)
			return false; /* it cannot be helped: the kernel refuses */
		hand_over(session, thread, waiting);
		return true;
	}
	tasks_let_go(session, process->pid);
	return true;
}
