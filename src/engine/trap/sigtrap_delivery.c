/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivers the program's own SIGTRAPs to the program's own handler.
 *
 * A SIGTRAP of the program's own would pass through the tracer's handler, where the next signal
 * may find the thread: the program would see a pc that is not its own. So the signal is delivered
 * by a single-step: the kernel makes the signal frame and stops before the handler's first
 * instruction, and there the pc is set to the program's handler. If the tracer is killed in
 * between, the tracer's handler passes the signal on. The step leaves no trace in the frame,
 * unless the next instruction may set the trap flag itself (user_disable_single_step()).
 * SA_RESETHAND is left to the tracer's handler, too.
 */
#include "engine/trap/sigtrap_delivery.h"

#include "engine/trap/sigmask_history.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/trap_state.h"
#include "recovery/rescue.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/space.h"

#include <signal.h>
#include <string.h>

enum { DELIVERY_MS = 2000 };

/* Returns true if a step with the signal enters the tracer's handler and the program has one. */
static bool can_deliver(const struct thread *thread)
{
	const struct process *process = thread->process;
	const struct space *space = process->space;
	uint64_t flags = 0;
	uint64_t mask;

	if (!space || !space->rescue || process->trap->sigtrap != SIGTRAP_HANDLED ||
	    !process->trap->sigtrap_guarded || process->starting)
		return false;
	memcpy(&flags, process->trap->sigtrap_action + space->arch->abi->word,
	       space->arch->abi->word);
	return !(flags & (unsigned)SA_RESETHAND) && pt_get_sigmask(thread->tid, &mask) == 0 &&
	       !(mask & TRAP_BIT);
}

/* Sets pc to the program's handler. `stepped`: the program itself has set the trap flag. */
static void enter_own_handler(const struct thread *thread, struct regs *regs, bool stepped)
{
	const struct process *process = thread->process;
	struct space *space = process->space;
	const struct arch *arch = space->arch;
	uint64_t place = regs->r[arch->context_register] + arch->context_flags;
	uint64_t flags;

	if (!stepped && memory_read_word(&space->memory, place, arch->abi->word, &flags) &&
	    flags & arch->step_flag) {
		flags &= ~arch->step_flag;
		space_write(space, place, &flags, arch->abi->word);
	}
	regs->pc = sigtrap_handler(space, process->trap->sigtrap_action);
	regs_store(thread->tid, regs);
}

bool sigtrap_deliver(struct thread *thread)
{
	const struct process *process = thread->process;
	struct regs regs;
	siginfo_t info;
	int status;

	if (!can_deliver(thread) || regs_load(thread->tid, &regs) != 0)
		return false;
	bool stepped = regs.flags & process->space->arch->step_flag;

	if (pt_step(thread->tid, SIGTRAP) != 0 || thread_wait(thread, &status, DELIVERY_MS) != 0) {
		thread->state = THREAD_RUNNING;
		return true;
	}
	struct stop_status stop = stop_status_decode(status);

	if (stop.kind != STOP_SIGNAL || stop.signal != SIGTRAP ||
	    pt_get_siginfo(thread->tid, &info) != 0 || info.si_code <= 0) {
		thread_defer(thread, status);
		return true;
	}
	thread->stop = STOP_TRAP;
	thread->stop_signal = 0;
	if (regs_load(thread->tid, &regs) == 0 && regs.pc == rescue_base(process->space))
		enter_own_handler(thread, &regs, stepped);
	return true;
}
