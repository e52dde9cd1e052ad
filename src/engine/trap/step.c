/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stepping in place. While the original byte is there, another thread could pass without a stop,
 * so the other threads are stopped first. A thread that cannot be stopped (uninterruptible sleep)
 * cannot pass either; the tracer waits for it for STOP_MS only.
 */
#include "engine/trap/step.h"

#include "engine/trap/sigtrap.h"
#include "engine/trap/trap_state.h"
#include "tracee/journal.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/space.h"

#include <signal.h>

enum { STOP_MS = 200, STEP_MS = 2000 };

/*
 * Stops another thread. Its stop is deferred, so tracees_next() returns it and the thread is
 * resumed.
 */
static void stop_other(struct thread *thread, void *stepping)
{
	if (thread != stepping)
		thread_stop(thread->process->tracees, thread, STOP_MS);
}

/*
 * Makes one single-step, passing over the tracer's own interrupts that were still to come. A stop
 * for any other reason is deferred for the wait loop.
 */
static void step_once(struct thread *thread)
{
	struct stop_status stop = {STOP_TRAP, 0};
	int status = 0;
	int signal = thread->trap->sigtrap_own ? SIGTRAP : 0;
	uint64_t mask = 0;

	thread->trap->sigtrap_own = false;
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
	space_each_thread(process->tracees, space, stop_other, thread);
	space_write(space, breakpoint->address, entry->before, arch->breakpoint_length);
	step_once(thread);
	if (!space->trap->lifted)
		space_write(space, breakpoint->address, arch->breakpoint, arch->breakpoint_length);
	return regs_load(thread->tid, regs) != 0 || regs->pc != breakpoint->address;
}
