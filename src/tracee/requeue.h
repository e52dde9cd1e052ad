/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a signal back to the kernel. If a thread is stopped at a signal and the tracer dies, the
 * signal is lost. So a thread that has to do something for the tracer first gets all signals
 * blocked and is resumed with its signal: the kernel then queues the signal again, with its siginfo
 * (ptrace_signal() in the kernel), and reports it once more when it is not blocked any more.
 */
#ifndef TRACER_TRACEE_REQUEUE_H
#define TRACER_TRACEE_REQUEUE_H

#include "tracee/tracee.h"

/*
 * Returns the signal to resume a stopped thread with, so that it is queued again if all signals
 * except those of `open` (bit n-1 for signal n) are blocked. Returns 0 if the thread is not stopped
 * at a signal, or if the signal must stay with the tracer because
 *
 *  - it is in `open`, or cannot be blocked;
 *
 *  - it is a job-control signal, for which sending has effects of its own;
 *
 *  - it is a real-time signal, and would come behind others of its number;
 *
 *  - it is the SIGTRAP of a breakpoint or a step.
 */
int requeue_signal(const struct thread *thread, uint64_t open);

/*
 * Notes that the stop of the thread has no signal any more: the thread was resumed with it and has
 * stopped again, or the signal has been handled.
 */
void requeue_forget(struct thread *thread);

#endif
