/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Core dumps.
 *
 * The kernel dumps the memory, and a debugger prefers it to the program's file, so it would show
 * the tracer's breakpoints in the text. So breakpoints are taken out before a signal is delivered
 * that will kill the process and dump core (signal(7): default action "Core", and neither caught,
 * ignored nor blocked). The dispositions that the kernel has at that moment decide. A SIGTRAP that
 * goes to the tracer's handler first comes back from there with the default action, and is handled
 * then.
 *
 * The other threads run until the kernel stops them, an instant later; their calls in that time are
 * not seen. A process may survive such a signal, as the init of a pid namespace does. So an
 * interrupt is left pending: a process that survives stops for it and gets its breakpoints back.
 *
 * Memory that is shared with another process keeps its breakpoints, also in the dump: that process
 * lives on and is traced.
 */
#include "session/core_dumps.h"

#include "engine/trap/sigtrap.h"
#include "engine/trap/spaces.h"
#include "session/session_state.h"
#include "target/overwritten_sites.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"

#include <signal.h>

static bool dumps_core(const struct thread *thread, int signal)
{
	const uint64_t dumping = signal_bit(SIGQUIT) | signal_bit(SIGILL) | signal_bit(SIGTRAP) |
				 signal_bit(SIGABRT) | signal_bit(SIGBUS) | signal_bit(SIGFPE) |
				 signal_bit(SIGSEGV) | signal_bit(SIGXCPU) | signal_bit(SIGXFSZ) |
				 signal_bit(SIGSYS);
	uint64_t ignored;
	uint64_t caught;
	uint64_t blocked;

	/*
	 * A signal that the tracer holds is lost if the tracer is killed, so the cheap checks come
	 * first.
	 */
	if (signal < 1 || signal > 64 || !(signal_bit(signal) & dumping) ||
	    (signal == SIGTRAP && sigtrap_is_handled(thread->process)) ||
	    !proc_signals(thread->tid, &ignored, &caught) ||
	    pt_get_sigmask(thread->tid, &blocked) != 0)
		return false;
	return !((ignored | caught | blocked) & signal_bit(signal));
}

void core_dumps_before_signal(struct session *session, struct thread *thread, int signal)
{
	struct space *space = thread->process->space;

	if (!space || !space->modules || space->references > 1 || space->modules->suspended_for ||
	    !dumps_core(thread, signal))
		return;
	if (session->target.agent &&
	    space->agent) /* the dump is to show the program's code and return addresses */
		agent_withdraw(session->target.agent, thread, "the process was about to dump core");
	/* Checked before trap_suspend(): what is missing now was overwritten by the program. */
	modules_check(&session->target, space, 0);
	space->modules->suspended_for = thread->tid;
	trap_suspend(space);
	pt_interrupt(thread->tid);
}
