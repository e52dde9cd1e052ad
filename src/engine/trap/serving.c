/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops at a SIGTRAP where none of our breakpoints is: one was taken out after the thread had hit
 * it, or the program has breakpoint instructions of its own. A call may return to one of those; no
 * breakpoint of ours was put there (returns.c).
 */
#include "engine/trap/serving.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/callstack.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/stackview.h"
#include "inferior/ptrace.h"

#include <signal.h>

/* A hit of a breakpoint that has been taken away since: run the instruction that is there. */
static bool serve_stale(struct serving *serving, uint64_t address)
{
	if (!breakpoint_is_stale(serving->thread, address))
		return false;
	serving->regs.pc = address;
	regs_store(serving->thread->tid, &serving->regs);
	sigtrap_hit(serving->thread, serving->time);
	sigtrap_repair(serving->thread);
	thread_resume(serving->thread, serving->thread->sigtrap_own ? SIGTRAP : 0);
	return true;
}

/*
 * A breakpoint instruction of the program's own, which is passed on to it. A call may have returned
 * there.
 */
static void serve_own(struct serving *serving, uint64_t address)
{
	struct thread *thread = serving->thread;
	struct arrival arrival = stackview_arrival(serving->space->arch->abi, &serving->regs,
						   address);

	if (thread->calls && !thread->process->silent && breakpoint_is_hit(thread))
		callstacks_return(thread->calls, &arrival, serving_popped, serving);
}

bool serving_not_ours(struct serving *serving, uint64_t address)
{
	if (serve_stale(serving, address))
		return true;
	serve_own(serving, address);
	return false;
}
