/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stepping in place. While the original byte stands there, another thread could run through
 * without being noticed, so the others are stopped first. A thread that cannot be stopped
 * (uninterruptible sleep) cannot run through either; it is not waited for longer than a moment.
 */
#include "engine/trap/step.h"

#include "engine/trap/sigtrap.h"
#include "inferior/journal.h"
#include "inferior/ptrace.h"

#include <signal.h>

enum { STOP_MS = 200, STEP_MS = 2000 };

/*
 * Stops one of the others; its stop is deferred, so inferior_next() hands it out and it is
 * resumed.
 */
static void stop_other(struct thread *thread, void *stepping)
{
	if (thread != stepping)
		thread_stop(thread->process->inferior, thread, STOP_MS);
}

/*
 * One step, not counting interrupts of our own that were still on the way. A stop for any other
 * reason is kept for the wait loop.
 */
static void step_once(struct thread *thread)
{
	struct stop_status stop = {STOP_TRAP, 0};
	int status = 0;
	int signal = thread->sigtrap_own ? SIGTRAP : 0;
	uint64_t mask = 0;

	thread->sigtrap_own = false;
	pt_get_sigmask(thread->tid, &mask);
	while (stop.kind == STOP_TRAP) {
		if (pt_step(thread->tid, signal) != 0 ||
		    thread_wait(thread, &status, STEP_MS) != 0) {
			thread->state = THREAD_RUNNING;
			return;
		}
		stop = stop_status_decode(status);
		thread->interrupt_taken |= stop.kind == STOP_TRAP;
		signal = 0;
	}
	if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP) {
		sigtrap_stepped(thread, mask);
		return;
	}
	thread_defer(thread, status);
}

bool step_past(struct thread *thread, struct breakpoint *breakpoint, struct regs *regs)
{
	struct process *process = thread->process;
	struct space *space = process->space;
	const struct arch *arch = space->arch;
	const struct journal_entry *entry = journal_entry(space->journal, breakpoint->journal);

	regs->pc = breakpoint->address;
	regs_store(thread->tid, regs);
	space_each_thread(process->inferior, space, stop_other, thread);
	space_write(space, breakpoint->address, entry->before, arch->breakpoint_length);
	step_once(thread);
	if (!space->trap->lifted)
		space_write(space, breakpoint->address, arch->breakpoint, arch->breakpoint_length);
	return regs_load(thread->tid, regs) != 0 || regs->pc != breakpoint->address;
}
