/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inferior/requeue.h"

#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/status.h"

#include <signal.h>

/*
 * Those above are queued, and their order counts. Of the two that glibc keeps for itself, as to
 * cancel a thread, one that is pending is as good as two.
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
