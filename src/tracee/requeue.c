/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which signals can be queued again, for remote calls and for the guardian. See requeue.h.
 */
#include "tracee/requeue.h"

#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/status.h"

#include <signal.h>

/*
 * Signals from here on are queued in order. 32 and 33, which glibc uses for itself (for example to
 * cancel a thread), are not among them: for these, one pending signal is as good as two.
 */
enum { FIRST_QUEUED = 34 };

int requeue_signal(const struct thread *thread, uint64_t open)
{
	const uint64_t kept = open | signal_bit(SIGKILL) | signal_bit(SIGSTOP) |
			      signal_bit(SIGTSTP) | signal_bit(SIGTTIN) | signal_bit(SIGTTOU) |
			      signal_bit(SIGCONT);
	int signal = thread->stop_signal;
	siginfo_t info;

	if (thread->state != THREAD_STOPPED || thread->stop != STOP_SIGNAL || signal < 1 ||
	    signal >= FIRST_QUEUED || kept & signal_bit(signal) ||
	    pt_get_siginfo(thread->tid, &info) != 0 || (signal == SIGTRAP && info.si_code > 0))
		return 0;
	return signal;
}

void requeue_forget(struct thread *thread)
{
	thread->stop = STOP_TRAP;
	thread->stop_signal = 0;
	if (thread->has_deferred)
		thread->deferred_status = stop_status_trap();
}
