/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal in the tracer's hands is lost when the tracer dies. So where a thread that is stopped at
 * one has to do something for us first, the kernel is given the signal back: a thread that is
 * resumed with a signal that it blocks by then gets it queued again, siginfo and all (the kernel:
 * ptrace_signal()). It is reported anew when it is no longer blocked.
 */
#ifndef TRACER_INFERIOR_REQUEUE_H
#define TRACER_INFERIOR_REQUEUE_H

#include "inferior/inferior.h"

/*
 * The signal with which a stopped thread is to be resumed so that it is queued again, if all
 * signals but those of `open` (bit n-1 for signal n) are blocked. 0: it is stopped at none, or at
 * one that must be kept:
 *  - it is open, or cannot be blocked;
 *  - being sent has effects of its own (those of job control);
 *  - it would come behind others of its number (real-time ones);
 *  - it is the trap of a breakpoint or a step.
 */
int requeue_signal(const struct thread *thread, uint64_t open);

/*
 * The stop of the thread has no signal any more: it has been resumed with that and has stopped
 * again, or the signal has been dealt with.
 */
void requeue_forget(struct thread *thread);

#endif
