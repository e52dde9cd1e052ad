/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a space back to the trap engine when the processor's clock has been forbidden to one of its
 * threads (prctl(2), PR_SET_TSC; strict seccomp(2)).
 */
#include "engine/agent/lost_clock.h"

#include "engine/agent/agent_signals.h"
#include "engine/agent/agent_state.h"
#include "tracee/clock.h"
#include "tracee/ptrace.h"
#include "tracee/requeue.h"
#include "tracee/resume.h"

#include <signal.h>

void agent_mind_clock(struct agent *agent, struct thread *thread)
{
	const struct agent_space *own = thread->process->space->agent;
	siginfo_t info;

	if (own->refused || !own->clock_is_forbidden)
		return;
	/*
	 * The fault has been handled, but the thread is still stopped at its signal. A thread at a
	 * fault would not be stepped out of the agent's code, and a remote call would queue the
	 * signal again (tracee/requeue.h). So the signal is marked as a sent one, and dropped. Then
	 * the trap engine takes over the call, which has begun or is over. The call's record was
	 * written after the stop, so the event's time is now.
	 */
	if (pt_get_siginfo(thread->tid, &info) == 0) {
		info.si_code = SI_USER;
		pt_set_siginfo(thread->tid, &info);
	}
	thread_take_stop(thread);
	if (thread_is_over(thread))
		return;
	requeue_forget(thread);
	agent_before_signal(thread);
	thread->process->tracees->event = clock_now();
	agent_refuse(agent, thread, "a thread may not read the clock any more");
}
