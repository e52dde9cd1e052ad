/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All threads of an address space are stopped, also those that appear meanwhile.
 *
 * What the stops announce (a new task, an exec, an end) is handled at once: nobody may take the
 * space apart before that.
 */
#include "session/quiesce.h"

#include "session/session_state.h"
#include "session/task_ends.h"
#include "target/forks.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/tracee.h"

enum { STOP_SOON_MS = 20, STOP_TIMEOUT_MS = 2000 };

struct settling {
	struct session *session;
	unsigned patience_ms;
	bool held_up; /* a thread has not stopped within patience_ms */
	bool changed;
};

static void stop_soon(struct thread *thread, void *context)
{
	struct settling *settling = context;

	settling->held_up |= thread_stop(settling->session->target.tracees, thread,
					 settling->patience_ms) != 0;
}

/*
 * At the event stop of the call that has made a task, a thread can be detached, but cannot make
 * remote calls, and it may be the only thread. It is resumed with an interrupt pending, so that it
 * stops at the end of the call, before any code of the program runs.
 */
static void stop_behind_call(struct thread *thread)
{
	pt_interrupt(thread->tid);
	thread_resume(thread, 0);
}

/*
 * A thread that was stopped by the tracer may have a queued stop that reports a new task, its own
 * end, or an exec. These must be handled before the tracer leaves the space. A thread at its exit
 * stop stays there and is detached, unless another thread's exec waits for its end.
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
		thread_take_deferred(session->target.tracees, thread, &stop);
		tasks_announced(&session->target, &stop);
		stop_behind_call(thread);
		break;
	case STOP_VFORK:
		thread_take_deferred(session->target.tracees, thread, &stop);
		tasks_announced(&session->target, &stop);
		break;
	case STOP_EXEC:
		thread_take_deferred(session->target.tracees, thread, &stop);
		task_execs(session, &stop);
		break;
	case STOP_ENDING:
		task_is_ending(session, thread);
		if (!settling->held_up)
			return;
		thread_take_deferred(session->target.tracees, thread, &stop);
		thread_resume(thread, 0);
		break;
	case STOP_EXITED:
	case STOP_KILLED:
		thread_take_deferred(session->target.tracees, thread, &stop);
		task_has_ended(session, &stop);
		break;
	default:
		return;
	}
	settling->changed = true;
}

void each_neighbour(struct session *session, pid_t pid, thread_visit *visit, void *context)
{
	struct process *process = tracees_process(session->target.tracees, pid);

	if (process && process->space)
		space_each_thread(session->target.tracees, process->space, visit, context);
	else if (process)
		process_each_thread(process, visit, context);
}

void quiesce_process(struct session *session, pid_t pid)
{
	struct settling settling = {session, STOP_SOON_MS, false, true};

	while (settling.changed || (settling.held_up && settling.patience_ms == STOP_SOON_MS)) {
		if (!settling.changed)
			settling.patience_ms = STOP_TIMEOUT_MS;
		settling.held_up = settling.changed = false;
		each_neighbour(session, pid, stop_soon, &settling);
		each_neighbour(session, pid, settle, &settling);
	}
}
