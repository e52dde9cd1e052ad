/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets threads run out of the SIGTRAP handlers of tracers that have been killed: all other threads
 * of the process first, then the thread through which the tracer works on the process.
 */
#include "engine/trap/stale_handler_drain.h"

#include "tracee/ptrace.h"
#include "tracee/rescue_abi.h"
#include "tracee/resume.h"

#include <time.h>

enum { STOP_MS = 1000, TRIES = 200, PAUSE_NS = 200000 };

struct leaving {
	const struct thread *served;
	const uint64_t *blocks;
	size_t count;
};

static bool is_inside(const struct thread *thread, const void *context)
{
	const struct leaving *leaving = context;
	struct regs regs;

	if (regs_load(thread->tid, &regs) != 0)
		return false;
	for (size_t i = 0; i < leaving->count; i++)
		if (regs.pc - leaving->blocks[i] < RESCUE_CODE)
			return true;
	return false;
}

static void let_out(struct thread *thread, void *context)
{
	const struct leaving *leaving = context;

	if (thread != leaving->served)
		thread_stop_outside(thread, is_inside, leaving);
}

/*
 * Lets the thread run out through which the tracer works on the process, if an interrupt has
 * stopped it. (A signal that it is stopped for would be delivered twice.) It gets its signals on
 * the way and ends at an interrupt again.
 */
static void let_served_out(struct thread *thread, const struct leaving *leaving)
{
	struct stop_status stop = {thread->stop, 0};
	int status;

	if (thread->stop != STOP_TRAP)
		return;
	for (int i = 0; stop.kind == STOP_SIGNAL || (i < TRIES && is_inside(thread, leaving));
	     i++) {
		pt_continue(thread->tid, stop.kind == STOP_SIGNAL ? stop.signal : 0);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		if (pt_interrupt(thread->tid) != 0 || thread_wait(thread, &status, STOP_MS) != 0)
			return;
		stop = stop_status_decode(status);
		if (stop.kind == STOP_SIGNAL || stop.kind == STOP_TRAP)
			continue;
		thread->stop = stop.kind;
		thread->stop_signal = stop.signal;
		thread_defer(thread, status);
		return;
	}
}

void stale_handlers_drain(struct thread *thread, const uint64_t *blocks, size_t count)
{
	struct leaving leaving = {thread, blocks, count};

	if (!count)
		return;
	process_each_thread(thread->process, let_out, &leaving);
	let_served_out(thread, &leaving);
}
