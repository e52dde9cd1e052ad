/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Core dumps.
 *
 * The kernel dumps what is in the memory, and a debugger believes that rather than the program's
 * file: our breakpoints would be found in the text. So they are taken out before a signal is
 * delivered that will kill the process and dump it (signal(7): those whose default action is
 * "Core", where nobody handles, ignores or blocks them). What the kernel has now is what it will go
 * by: a SIGTRAP that goes to our own handler first comes back from there, to the default action.
 *
 * The other threads run on until the kernel stops them, an instant later; what they call then is
 * not seen. A process may survive such a signal after all, as the first one of a pid namespace
 * does. So an interrupt waits behind the signal: a process that lives stops for it, and gets its
 * breakpoints back.
 *
 * In memory that is another process's too they stay, also in the dump: that one lives on and is
 * traced.
 */
#include "session/private.h"

#include "inferior/proc.h"
#include "inferior/ptrace.h"

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

	/* What waits in our hands is lost if we are killed, so nothing is asked that is known. */
	if (signal < 1 || signal > 64 || !(signal_bit(signal) & dumping) ||
	    (signal == SIGTRAP && thread->process->sigtrap == SIGTRAP_HANDLED) ||
	    !proc_signals(thread->tid, &ignored, &caught) ||
	    pt_get_sigmask(thread->tid, &blocked) != 0)
		return false;
	return !((ignored | caught | blocked) & signal_bit(signal));
}

void cores_before_signal(struct session *session, struct thread *thread, int signal)
{
	struct space *space = thread->process->space;

	if (!space || !space->modules || space->references > 1 || space->modules->suspended_for ||
	    !dumps_core(thread, signal))
		return;
	if (session->agent &&
	    space->agent) /* a debugger shall see the program's code, and who called whom */
		agent_withdraw(session->agent, thread, "the process was about to dump core");
	modules_check(session, space, 0); /* what is taken out now was there to the end */
	space->modules->suspended_for = thread->tid;
	trap_suspend(space);
	pt_interrupt(thread->tid);
}
