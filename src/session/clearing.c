/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Getting threads out of code of ours before it is taken away.
 *
 * A thread that is inside an out-of-line slot can be moved (engine/trap/leave.c). One that runs the
 * SIGTRAP handler or a landing cannot: it has to be let run on until it is through. The handler
 * runs in each process whose program raises SIGTRAP itself, and whenever a breakpoint is hit that
 * nobody serves. A moment is enough for most; on a machine under load a thread may not have run at
 * all in one, so the moments grow. In a group-stop it is let make steps, and no more.
 *
 * When a tracer has been killed, signals may have come in the middle of our code, slots included,
 * and their handlers return there; in its code, which a later tracer has taken over, they may then
 * as well. A handler that is in a group-stop stays there, and so must the code. One that takes
 * longer than about a second is not waited for, nor what only looks like one on the stack of a
 * coroutine that is not running: nothing leads into our code any more, but its memory stays.
 *
 * Who is inside may be waiting for a thread that is not, as by pthread_join() in such a handler. So
 * after a few moments in vain all are let run, by turns with being stopped.
 */
#include "engine/agent/agent.h"
#include "engine/trap/trap.h"
#include "inferior/ptrace.h"
#include "inferior/rescue.h"
#include "inferior/stranded.h"
#include "session/private.h"

#include <signal.h>
#include <time.h>

enum { TRIES = 100, ALONE_TRIES = 8, FRAMES_TRIES = 40, LONGEST_PAUSE_MS = 100, LOOK_NS = 100000 };

struct clearing {
	struct session *session;
	struct vec inside;  /* struct thread *: were in there when all had been stopped */
	struct vec running; /* pid_t: those of them that have been let run */
};

/* Whether handlers may return to our code: begun while a tracer that is dead did not see to it. */
static bool was_unattended(const struct clearing *clearing, const struct thread *thread)
{
	return clearing->session->recovering || thread->process->space->has_remains;
}

/* A SIGTRAP is mostly ours, as long as we live. */
static bool is_to_pass(const struct clearing *clearing, const struct thread *thread, int signal)
{
	return clearing->session->recovering ||
	       (was_unattended(clearing, thread) && signal != SIGTRAP);
}

static bool runs_our_code(const struct thread *thread)
{
	struct regs regs;

	return regs_load(thread->tid, &regs) == 0 &&
	       trap_runs_our_code(thread->process->space, &regs);
}

/*
 * Whether the thread, stopped, runs code of ours, or will return to it. What is seen on its stack
 * may be of the past; but who was seen once without, and elsewhere, stays out, as nothing leads
 * there any more when he runs on.
 */
static bool is_inside(const struct clearing *clearing, struct thread *thread)
{
	struct regs regs;

	if (runs_our_code(thread)) {
		thread->is_out = false;
		return true;
	}
	if (!was_unattended(clearing, thread) || thread->is_out ||
	    regs_load(thread->tid, &regs) != 0)
		return false;
	const bool returns = trap_on_stack(thread->process->space, regs.r[REG_SP]);

	/* Who is in a slot may have a signal there when he runs on. */
	thread->is_out = !returns && !trap_has_mapped(thread->process->space, regs.pc);
	return returns;
}

/*
 * Whether the signal is a fault of our code's, which has been dealt with and is no news to the
 * program.
 */
static bool is_our_fault(struct thread *thread, int signal)
{
	return (signal == SIGSEGV || signal == SIGBUS) && agent_fault(thread, false);
}

/*
 * A thread that runs has stopped again. Inside what a dead tracer has left it gets its signals at
 * once: held up by each, under a timer it would never come to its end. Outside it stays at them: by
 * its own SIGTRAP it would get in again. One that was interrupted although it had stopped already
 * tells so as soon as it is resumed.
 */
static void serve(const struct clearing *clearing, struct thread *thread)
{
	int status;

	if (thread->state != THREAD_RUNNING || waiting_poll(thread->tid, &status) <= 0)
		return;
	struct stop_status stop = stop_status_decode(status);

	if (stop.kind == STOP_TRAP ||
	    (stop.kind == STOP_SIGNAL && is_to_pass(clearing, thread, stop.signal) &&
	     is_inside(clearing, thread))) {
		bool passed = stop.kind == STOP_SIGNAL && !is_our_fault(thread, stop.signal);

		pt_continue(thread->tid, passed ? stop.signal : 0);
		return;
	}
	thread_keep_stop(thread, status);
}

static void run_for(const struct clearing *clearing, unsigned ms)
{
	uint64_t end = inferior_clock() + ms * UINT64_C(1000000);

	while (inferior_clock() < end) {
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		for (size_t i = 0; i < clearing->running.count; i++) {
			pid_t tid = *(pid_t *)vec_at(&clearing->running, i);
			struct thread *thread = inferior_thread(clearing->session->inferior, tid);

			if (thread)
				serve(clearing, thread);
		}
	}
}

/* One of those that have been stopped. */
static void find_inside(struct thread *thread, void *context)
{
	struct clearing *clearing = context;

	if (clearing->session->recovering && thread->state == THREAD_STOPPED)
		stranded_put_back(thread);
	/* Who waits for memory in there would not come out by himself. */
	if (thread->state != THREAD_STOPPED || agent_leave(thread) || !is_inside(clearing, thread))
		return;
	if (thread->stop == STOP_GROUP && runs_our_code(thread))
		trap_step_clear(thread);
	if (is_inside(clearing, thread))
		vec_push(&clearing->inside, &thread);
}

/* Sends a thread on that runs code of ours. */
static void send_on(struct clearing *clearing, struct thread *thread)
{
	struct stop stop;
	bool signalled = thread->stop == STOP_SIGNAL && !clearing->session->recovering;
	/*
	 * It may have run into a breakpoint in there (engine/agent): behind that it finds out by
	 * itself.
	 */
	bool swallowed = thread->stop == STOP_SIGNAL && is_our_fault(thread, thread->stop_signal);
	bool hit = !swallowed && signalled && trap_swallow_hit(thread);

	if (swallowed)
		thread->stop_signal = 0;

	if (signalled && !hit && !swallowed) {
		/*
		 * Delivered in there, its handler would return there, when nothing is left of it.
		 */
		agent_before_signal(thread);
		if (!is_inside(clearing, thread))
			return;
	}
	if (thread->stop == STOP_GROUP ||
	    !thread_take_deferred(clearing->session->inferior, thread, &stop))
		return;		     /* it stays there, and so must the code */
	thread->interrupted = false; /* no call of the program's is to be watched there */
	vec_push(&clearing->running, &thread->tid);
	swallowed |= stop.kind != STOP_SIGNAL || (hit && !thread->sigtrap_own);
	thread_resume(thread, swallowed ? 0 : stop.signal);
}

/* One that is not inside: nothing leads there any more but its own SIGTRAP. */
static void send_other_on(struct thread *thread, void *context)
{
	struct clearing *clearing = context;

	if (thread->state == THREAD_STOPPED &&
	    !(thread->stop == STOP_SIGNAL && thread->stop_signal == SIGTRAP))
		send_on(clearing, thread);
}

/* What leads into our code is taken out before anybody runs. */
static void close_entrances(const struct clearing *clearing, struct space *space)
{
	/*
	 * So that nobody gets into the handler again by them. As long as we live, threads stop at
	 * breakpoints, and must not run by those that answer them for us (masking.c). Nor does one
	 * that throws all the time get into our code any more, but stops.
	 */
	if (clearing->session->recovering)
		trap_heal(space, false);
	else if (clearing->session->agent)
		agent_stop_unwinders(clearing->session->agent,
				     *(struct thread **)vec_at(&clearing->inside, 0));
	agent_undo_jumps(space, false);
	agent_restore_returns(space);
}

static bool is_anyone_inside(const struct clearing *clearing)
{
	bool found = false;

	for (size_t i = 0; i < clearing->inside.count; i++)
		found |= is_inside(clearing, *(struct thread **)vec_at(&clearing->inside, i));
	return found;
}

/*
 * Who has begun a call there would, let run, have a return address of ours on his stack before we
 * come again, and what unwinds stacks does not wait for us any more. True: nobody is inside then.
 */
static bool step_through(const struct clearing *clearing, struct space *space)
{
	for (size_t i = 0; i < clearing->inside.count; i++)
		trap_step_through(*(struct thread **)vec_at(&clearing->inside, i));
	agent_restore_returns(space);
	return !is_anyone_inside(clearing);
}

/* Whether all that keeps us is what was seen on stacks. */
static bool are_frames_only(const struct clearing *clearing)
{
	bool found = true;

	for (size_t i = 0; i < clearing->inside.count && found; i++)
		found = !runs_our_code(*(struct thread **)vec_at(&clearing->inside, i));
	return found;
}

static bool clear(struct clearing *clearing, pid_t pid)
{
	struct session *session = clearing->session;
	unsigned frames = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		tasks_stop_all(session, pid);
		const struct process *process = inferior_process(session->inferior, pid);

		if (!process || !process->space)
			return true;
		if (session->recovering)
			rescue_beat(process->space);
		vec_clear(&clearing->inside);
		vec_clear(&clearing->running);
		space_each_thread(session->inferior, process->space, find_inside, clearing);
		if (!clearing->inside.count)
			return true;
		close_entrances(clearing, process->space);
		if (session->recovering && step_through(clearing, process->space))
			return true;
		frames += are_frames_only(clearing);
		if (session->recovering && frames == FRAMES_TRIES)
			return true;
		for (size_t k = 0; k < clearing->inside.count; k++)
			send_on(clearing, *(struct thread **)vec_at(&clearing->inside, k));
		if (!clearing->running.count && !is_anyone_inside(clearing))
			return true;
		if (!clearing->running.count)
			return false;
		/* As long as we live, the others would run into breakpoints. */
		if (session->recovering && i >= ALONE_TRIES)
			space_each_thread(session->inferior, process->space, send_other_on,
					  clearing);
		run_for(clearing, i < 16 ? 1 + i / 4 : i < LONGEST_PAUSE_MS ? i : LONGEST_PAUSE_MS);
	}
	return false;
}

/* While we live, more than that may have led into our code since. */
static void forget_out(struct thread *thread, void *context)
{
	(void)context;
	thread->is_out = false;
}

bool clearing_run(struct session *session, pid_t pid)
{
	const struct process *process = inferior_process(session->inferior, pid);
	struct clearing clearing = {session, VEC_OF(struct thread *), VEC_OF(pid_t)};

	if (process && process->space && !session->recovering)
		space_each_thread(session->inferior, process->space, forget_out, NULL);
	bool is_clear = clear(&clearing, pid);

	vec_deinit(&clearing.inside);
	vec_deinit(&clearing.running);
	return is_clear;
}
