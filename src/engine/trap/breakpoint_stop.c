/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP stops where the tracer has no breakpoint: either the breakpoint was removed after the
 * thread had hit it, or the program has breakpoint instructions of its own. A call may return to
 * one of the latter, where return_breakpoints.c plants nothing.
 */
#include "engine/trap/breakpoint_stop.h"

#include "engine/core/callstack.h"
#include "engine/core/stackview.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/trap.h"
#include "tracee/resume.h"

#include <signal.h>

/*
 * If the thread has hit a breakpoint that was removed since, runs the instruction at its address.
 */
static bool serve_stale(struct breakpoint_stop *stop)
{
	if (!breakpoint_is_stale(stop->thread, stop->address))
		return false;
	stop->regs.pc = stop->address;
	regs_store(stop->thread->tid, &stop->regs);
	sigtrap_hit(stop->thread, stop->event.time);
	sigtrap_repair(stop->thread);
	thread_resume(stop->thread, sigtrap_to_deliver(stop->thread));
	return true;
}

/*
 * A breakpoint instruction of the program's own, whose signal is delivered to the program. A
 * pending call may have returned there.
 */
static void serve_own(struct breakpoint_stop *stop)
{
	struct thread *thread = stop->thread;
	struct arrival arrival = stackview_arrival(stop->space->arch->abi, &stop->regs,
						   stop->address);

	if (thread->calls->stacks && !thread->process->silent && breakpoint_is_hit(thread))
		callstacks_return(thread->calls->stacks, &arrival, call_tracker_popped,
				  &stop->event);
}

bool breakpoint_stop_not_ours(struct breakpoint_stop *stop)
{
	if (serve_stale(stop))
		return true;
	serve_own(stop);
	return false;
}
