/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that use ptrace(2) themselves.
 *
 * A task has one tracer. Nevertheless a debugger that is traced must be able to debug, and a
 * program that checks whether it is being debugged must get the answer that it would get without
 * the tracer. So libc's ptrace() is hooked, and its request decides what is done:
 *
 * - A debugger attaches to a traced task (PTRACE_ATTACH, PTRACE_SEIZE). The task's process is
 * detached before the request is made.
 *
 * - A child asks to be traced by its parent (PTRACE_TRACEME) before it execs, as debuggers start
 * their programs. It is detached: not from within the hook, but at the stop before its next
 * instruction.
 *
 * - A vfork child asks to be traced. It runs in its parent's memory, past planted breakpoints,
 * whose stops would now be reported to its parent; but that is blocked in vfork(2) and would never
 * handle them. All patches are taken out of that memory until the parent comes back. That does not
 * take long, as the child is about to exec. The other threads are kept stopped meanwhile, so no
 * call is missed.
 *
 * - A program that was launched, attached to, or exec'd asks to be traced. Its parent is no
 * debugger. (The parent of a command even is the tracer.) Such programs check whether they are
 * debugged. The first request succeeds, as it would without the tracer, and later ones fail with
 * the kernel's own answer for a task that is traced already.
 *
 * System calls that do not go through libc's ptrace() are not seen. They fail with EPERM, because a
 * task has one tracer. So do those of debuggers that are not traced themselves.
 */
#include "session/debuggers.h"

#include "engine/core/stackview.h"
#include "engine/trap/spaces.h"
#include "engine/trap/watch.h"
#include "engine/trap/xol_signals.h"
#include "session/detach.h"
#include "session/session_state.h"
#include "target/task_state.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"

#include <sys/ptrace.h>

/* How long the other threads wait for the exec of a vfork child that asked to be traced. */
enum {
	STOP_MS = 200,
	EXEC_TRIES = 20 /* of 50 ms each: thread_stop() gives up early on a thread in vfork(2) */
};

/* ------------------------------------------------------------------ requests */

static void debugger_comes(struct session *session, const struct thread *debugger, pid_t tid)
{
	const struct thread *wanted = tracees_thread(session->target.tracees, tid);

	/*
	 * The number means another task in the debugger's pid namespace, or the request will fail
	 * anyway.
	 */
	if (!wanted || wanted->process->space == debugger->process->space ||
	    !proc_sees_our_pids(debugger->tid))
		return;
	pid_t pid = wanted->process->pid;

	untraced_process(session->target.untraced, pid, "let go: process %d debugs it",
			 (int)debugger->process->pid);
	detach_process(session, pid);
}

/* Handles PTRACE_TRACEME. Returns true if the call returns 0 without asking the kernel. */
static bool wants_to_be_traced(struct thread *thread)
{
	struct process *process = thread->process;

	if (process->session->born && !process->session->execed) {
		process->session->let_go = true;
		pt_interrupt(thread->tid);
		return false;
	}
	bool first = !process->session->pretends;

	process->session->pretends = true;
	return first;
}

static bool ptrace_called(struct hook *hook, struct thread *thread, const struct regs *regs,
			  uint64_t *result)
{
	struct session *session = hook->context;
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
	session->target.ptrace = (struct hook){.context = session, .intercept = ptrace_called};
}

/* ------------------------------------------------------------------ detaching */

struct handover {
	const struct thread *child;
	const struct thread *parent;
};

static void stop_other(struct thread *thread, void *context)
{
	const struct handover *handover = context;

	if (thread != handover->child && thread != handover->parent)
		thread_stop(thread->process->tracees, thread, STOP_MS);
}

/* Detaches from a vfork child, which is at a safe stop, while its parent is blocked in vfork(2). */
static void hand_over(struct session *session, struct thread *child, struct thread *parent)
{
	struct space *space = child->process->space;
	struct handover handover = {child, parent};
	pid_t pid = child->process->pid;
	int error = -1;

	space_each_thread(session->target.tracees, space, stop_other, &handover);
	trap_suspend(space);
	trap_before_signal(child);
	trap_clear_watched(child);
	trap_thread_gone(session->target.trap, child, false);
	/* The parent is interrupted first: it runs on as soon as the child has its own memory. */
	pt_interrupt(parent->tid);
	pt_detach(child->tid, child->stop == STOP_SIGNAL ? child->stop_signal : 0);
	thread_destroy(session->target.tracees, child);
	for (int tries = 0; error && tries < EXEC_TRIES; tries++)
		error = thread_stop(session->target.tracees, parent, STOP_MS);
	if (!error) {
		trap_restore(space);
		return;
	}
	space->modules->suspended_for = parent->tid;
	untraced_process(session->target.untraced, parent->process->pid,
			 "calls made while its child %d, which it debugs, is in vfork(2)",
			 (int)pid);
}

static void restore_if_due(const struct thread *thread)
{
	struct space *space = thread->process->space;

	/* At the end of the thread its memory goes, too. core_dumps.c also sets suspended_for. */
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
	if (!process->session->let_go || !thread_is_safe_stop(thread))
		return false;
	struct thread *waiting = tracees_thread(session->target.tracees, process->session->vforker);

	process->session->let_go = false;
	if (!process->silent)
		untraced_process(session->target.untraced, process->pid,
				 "let go: its parent debugs it");
	if (process->space && process->space->references > 1) {
		if (!waiting || waiting->process->space != process->space)
			return false; /* not detached: the request will fail in the kernel */
		hand_over(session, thread, waiting);
		return true;
	}
	detach_process(session, process->pid);
	return true;
}
