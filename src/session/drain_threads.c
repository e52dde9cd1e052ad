/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Letting threads run out of the tracer's code before that is unmapped.
 *
 * A thread in an XOL slot can be moved out (engine/trap/leave.c). A thread in the SIGTRAP handler
 * or in a remote-call stub cannot: it has to run until it has left. The handler runs in each
 * process whose program raises SIGTRAP itself, and when a thread hits a breakpoint while no tracer
 * serves it. A few ms are enough for most; on a machine under load a thread may not run at all in
 * that time, so the pauses grow. A thread in a group-stop is only single-stepped.
 *
 * After a tracer was killed, signals may have arrived in the middle of its code, XOL slots
 * included, so their handlers return there. That also holds for the code of a killed tracer that a
 * later tracer has taken over. A thread in such a handler that is in a group-stop stays there, and
 * the code must stay, too. A handler that takes longer than about a second is not waited for; nor
 * is what only looks like a handler's frame, on the stack of a coroutine that is not running.
 * Nothing leads into the code then, but its memory stays mapped.
 *
 * A thread inside may wait for a thread outside, as with pthread_join() in such a handler. So after
 * ALONE_TRIES tries in vain all threads are resumed, and stopped again, by turns.
 */
#include "session/drain_threads.h"

#include "engine/agent/agent.h"
#include "engine/agent/agent_signals.h"
#include "engine/agent/faults.h"
#include "engine/agent/guards.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/unwinding.h"
#include "engine/trap/adopt.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/leave.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/xol_signals.h"
#include "recovery/remote_call_recovery.h"
#include "recovery/rescue.h"
#include "session/quiesce.h"
#include "session/session_state.h"
#include "tracee/clock.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"

#include <signal.h>
#include <time.h>

enum { TRIES = 100, ALONE_TRIES = 8, FRAMES_TRIES = 40, LONGEST_PAUSE_MS = 100, LOOK_NS = 100000 };

struct draining {
	struct session *session;
	struct vec inside;  /* struct thread *: inside when all threads had been stopped */
	struct vec running; /* pid_t: those of them that were resumed */
};

/*
 * Returns true if signal handlers may return to the tracer's code: they began while no live tracer
 * moved the thread out of that code first.
 */
static bool was_unattended(const struct draining *draining, const struct thread *thread)
{
	return draining->session->recovering || trap_was_orphaned(thread->process->space);
}

/*
 * Returns true if a thread inside gets this signal at once. While the tracer lives, a SIGTRAP
 * mostly is a breakpoint's.
 */
static bool is_to_pass(const struct draining *draining, const struct thread *thread, int signal)
{
	return draining->session->recovering ||
	       (was_unattended(draining, thread) && signal != SIGTRAP);
}

static bool runs_our_code(const struct thread *thread)
{
	struct regs regs;

	return regs_load(thread->tid, &regs) == 0 &&
	       trap_runs_our_code(thread->process->space, &regs);
}

/*
 * Returns true if the stopped thread is in the tracer's code, or will return to it. Frames on its
 * stack may be left over from earlier calls. But a thread that was seen once without such frames,
 * and outside, stays out: nothing leads it back.
 */
static bool is_inside(const struct draining *draining, struct thread *thread)
{
	struct regs regs;

	if (runs_our_code(thread)) {
		trap_note_outside(thread, false);
		return true;
	}
	if (!was_unattended(draining, thread) || trap_is_outside(thread) ||
	    regs_load(thread->tid, &regs) != 0)
		return false;
	const bool returns = trap_on_stack(thread->process->space, regs.r[REG_SP]);

	/* A thread in an XOL slot may get a signal there when it runs on. */
	trap_note_outside(thread, !returns && !trap_has_mapped(thread->process->space, regs.pc));
	return returns;
}

/*
 * Returns true if the signal was a fault of the agent's code. That has been handled; the program
 * must not see it.
 */
static bool is_our_fault(struct thread *thread, int signal)
{
	return (signal == SIGSEGV || signal == SIGBUS) && agent_read_fault(thread);
}

/*
 * Handles a new stop of a resumed thread. A thread inside a dead tracer's code gets its signals at
 * once: stopped by each, it would never reach the end under a fast timer. A thread outside stays at
 * them: its own SIGTRAP would lead it into the handler again. An interrupt of a thread that had
 * already stopped is reported right after it is resumed.
 */
static void serve(const struct draining *draining, struct thread *thread)
{
	int status;

	if (thread->state != THREAD_RUNNING || waiting_poll(thread->tid, &status) <= 0)
		return;
	struct stop_status stop = stop_status_decode(status);

	if (stop.kind == STOP_TRAP ||
	    (stop.kind == STOP_SIGNAL && is_to_pass(draining, thread, stop.signal) &&
	     is_inside(draining, thread))) {
		bool passed = stop.kind == STOP_SIGNAL && !is_our_fault(thread, stop.signal);

		pt_continue(thread->tid, passed ? stop.signal : 0);
		return;
	}
	thread_keep_stop(thread, status);
}

static void run_for(const struct draining *draining, unsigned ms)
{
	uint64_t end = clock_now() + ms * UINT64_C(1000000);

	while (clock_now() < end) {
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		for (size_t i = 0; i < draining->running.count; i++) {
			pid_t tid = *(pid_t *)vec_at(&draining->running, i);
			struct thread *thread = tracees_thread(draining->session->target.tracees,
							       tid);

			if (thread)
				serve(draining, thread);
		}
	}
}

/* Adds a stopped thread to clearing->inside, if it is inside. */
static void find_inside(struct thread *thread, void *context)
{
	struct draining *draining = context;

	/* No remote call is under way: a thread in a stub was left there by a killed tracer. */
	if (thread->state == THREAD_STOPPED)
		remote_call_recovery_put_back(thread);
	/*
	 * A thread that waits in the agent's code for memory would not come out by itself:
	 * agent_leave() moves it.
	 */
	if (thread->state != THREAD_STOPPED || agent_leave(thread) || !is_inside(draining, thread))
		return;
	if (thread->stop == STOP_GROUP && runs_our_code(thread))
		trap_step_clear(thread, agent_read_fault);
	if (is_inside(draining, thread))
		vec_push(&draining->inside, &thread);
}

/* Resumes a thread that runs the tracer's code. */
static void send_on(struct draining *draining, struct thread *thread)
{
	struct stop stop;
	bool signalled = thread->stop == STOP_SIGNAL && !draining->session->recovering;
	/*
	 * The thread may have hit a breakpoint in the agent's code (engine/agent). Resumed after
	 * the breakpoint, it leaves the code by itself.
	 */
	bool swallowed = thread->stop == STOP_SIGNAL && is_our_fault(thread, thread->stop_signal);
	bool hit = !swallowed && signalled && trap_swallow_hit(thread);

	if (swallowed)
		thread->stop_signal = 0;

	if (signalled && !hit && !swallowed) {
		/*
		 * If the signal were delivered inside, its handler would return to code that is
		 * unmapped by then.
		 */
		agent_before_signal(thread);
		if (!is_inside(draining, thread))
			return;
	}
	if (thread->stop == STOP_GROUP ||
	    !thread_take_deferred(draining->session->target.tracees, thread, &stop))
		return; /* it stays there, and so must the code */
	/* The thread must not stop at system calls there. */
	thread->syscall_stops = 0;
	vec_push(&draining->running, &thread->tid);
	swallowed |= stop.kind != STOP_SIGNAL || (hit && !sigtrap_to_deliver(thread));
	thread_resume(thread, swallowed ? 0 : stop.signal);
}

/*
 * Resumes a thread that is not inside. Only its own SIGTRAP could lead it into the tracer's code.
 */
static void send_other_on(struct thread *thread, void *context)
{
	struct draining *draining = context;

	if (thread->state == THREAD_STOPPED &&
	    !(thread->stop == STOP_SIGNAL && thread->stop_signal == SIGTRAP))
		send_on(draining, thread);
}

/* Takes out what leads into the tracer's code, before any thread is resumed. */
static void close_entrances(const struct draining *draining, struct space *space)
{
	/*
	 * In recovery all breakpoints are taken out, so that no thread enters the handler again.
	 * While the tracer lives they stay: threads stop at them, and need those that answer for
	 * the kernel (sigmask_hooks.c). But unwinders stop again at their entries, so that a thread
	 * that throws all the time does not enter the agent's code.
	 */
	if (draining->session->recovering)
		trap_heal(space, false);
	else if (draining->session->target.agent)
		agent_stop_unwinders(draining->session->target.agent,
				     *(struct thread **)vec_at(&draining->inside, 0));
	agent_undo_jumps(space, false);
	agent_restore_returns(space);
}

static bool is_anyone_inside(const struct draining *draining)
{
	bool found = false;

	for (size_t i = 0; i < draining->inside.count; i++)
		found |= is_inside(draining, *(struct thread **)vec_at(&draining->inside, i));
	return found;
}

/*
 * Steps threads out of the agent's code. If they were resumed instead, one that has just begun a
 * call would have a return trampoline on its stack at the next try, and unwinders do not wait any
 * more. Returns true if no thread is inside then.
 */
static bool step_through(const struct draining *draining, struct space *space)
{
	for (size_t i = 0; i < draining->inside.count; i++)
		trap_step_through(*(struct thread **)vec_at(&draining->inside, i),
				  agent_read_fault);
	agent_restore_returns(space);
	return !is_anyone_inside(draining);
}

/* Returns true if all that is left are frames on stacks. */
static bool are_frames_only(const struct draining *draining)
{
	bool found = true;

	for (size_t i = 0; i < draining->inside.count && found; i++)
		found = !runs_our_code(*(struct thread **)vec_at(&draining->inside, i));
	return found;
}

static bool drain(struct draining *draining, pid_t pid)
{
	struct session *session = draining->session;
	unsigned frames = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		quiesce_process(session, pid);
		const struct process *process = tracees_process(session->target.tracees, pid);

		if (!process || !process->space)
			return true;
		if (session->recovering)
			rescue_beat(process->space);
		vec_clear(&draining->inside);
		vec_clear(&draining->running);
		space_each_thread(session->target.tracees, process->space, find_inside, draining);
		if (!draining->inside.count)
			return true;
		close_entrances(draining, process->space);
		if (session->recovering && step_through(draining, process->space))
			return true;
		frames += are_frames_only(draining);
		if (session->recovering && frames == FRAMES_TRIES)
			return true;
		for (size_t k = 0; k < draining->inside.count; k++)
			send_on(draining, *(struct thread **)vec_at(&draining->inside, k));
		if (!draining->running.count && !is_anyone_inside(draining))
			return true;
		if (!draining->running.count)
			return false;
		/* While the tracer lives, the other threads would run into breakpoints. */
		if (session->recovering && i >= ALONE_TRIES)
			space_each_thread(session->target.tracees, process->space, send_other_on,
					  draining);
		run_for(draining, i < 16 ? 1 + i / 4 : i < LONGEST_PAUSE_MS ? i : LONGEST_PAUSE_MS);
	}
	return false;
}

/* While the tracer lives, threads may have entered its code since they were last seen outside. */
static void forget_out(struct thread *thread, void *context)
{
	(void)context;
	trap_note_outside(thread, false);
}

bool drain_threads_run(struct session *session, pid_t pid)
{
	const struct process *process = tracees_process(session->target.tracees, pid);
	struct draining draining = {session, VEC_OF(struct thread *), VEC_OF(pid_t)};

	if (process && process->space && !session->recovering)
		space_each_thread(session->target.tracees, process->space, forget_out, NULL);
	bool is_drained = drain(&draining, pid);

	vec_deinit(&draining.inside);
	vec_deinit(&draining.running);
	return is_drained;
}
