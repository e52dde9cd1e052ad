/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Getting threads out of code of ours before it is taken away.
 *
 * A thread that is inside an out-of-line slot can be moved (engine/trap/leave.c). One that runs the
 * SIGTRAP handler or a landing cannot: it has to be let run on until it is through. The handler runs in
 * each process whose program raises SIGTRAP itself, and whenever a breakpoint is hit that nobody
 * serves. A moment is enough for most; on a machine under load a thread may not have run at all
 * in one, so the moments grow. When a tracer has been killed, signals may have come in the middle of our code, slots
 * included, and their handlers return there. One that is in a group-stop stays where it is, and so must the code.
 */
#include "engine/trap/trap.h"
#include "inferior/ptrace.h"
#include "session/private.h"

#include <time.h>

enum { TRIES = 100, LONGEST_PAUSE_MS = 100 };

struct clearing {
	struct session *session;
	bool busy;  /* somebody was in there and runs now */
	bool stays; /* somebody is in there and cannot be let run */
};

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/*
 * Lets a thread run. One that was interrupted although it had stopped already stops again as soon as it is
 * resumed, and would each time that it is stopped like that.
 */
static void let_run(struct thread *thread, int signal)
{
	int status;

	thread_resume(thread, signal);
	pause_ms(1);
	if (waiting_poll(thread->tid, &status) <= 0)
		return;
	struct stop_status stop = stop_status_decode(status);

	if (stop.kind == STOP_TRAP) {
		pt_continue(thread->tid, 0);
		return;
	}
	thread_defer(thread, status);
	thread->state = THREAD_STOPPED;
	thread->stop = stop.kind;
	thread->stop_signal = stop.signal;
}

/* Sends a thread on that runs code of ours. */
static void send_on(struct thread *thread, void *context)
{
	struct clearing *clearing = context;
	struct regs regs;
	struct stop stop;

	if (thread->state != THREAD_STOPPED || regs_load(thread->tid, &regs) != 0 ||
	    !(trap_in_our_code(thread->process->space, regs.pc) ||
	      (clearing->session->recovering &&
	       trap_on_stack(thread->process->space, regs.r[REG_SP]))))
		return;
	if (thread->stop == STOP_GROUP ||
	    !thread_take_deferred(clearing->session->inferior, thread, &stop)) {
		clearing->stays = true;
		return;
	}
	clearing->busy = true;
	thread->interrupted = false; /* no call of the program's is to be watched there */
	let_run(thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
}

bool clearing_run(struct session *session, pid_t pid)
{
	struct clearing clearing = {session, true, false};

	for (int i = 0; i < TRIES; i++) {
		tasks_stop_all(session, pid);
		const struct process *process = inferior_process(session->inferior, pid);

		if (!process || !process->space)
			return true;
		clearing.busy = clearing.stays = false;
		space_each_thread(session->inferior, process->space, send_on, &clearing);
		if (!clearing.busy)
			return !clearing.stays;
		trap_heal(process->space); /* then nobody gets into the handler again by them */
		pause_ms(i < 16 ? 1 + i / 4 : i < LONGEST_PAUSE_MS ? i : LONGEST_PAUSE_MS);
	}
	return false;
}
