/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that did not stop for detaching (thread_abandon(), tracee.h): an abandoned thread is
 * blocked in the kernel, and is detached when it stops at last.
 */
#ifndef TRACER_TRACEE_ABANDONED_H
#define TRACER_TRACEE_ABANDONED_H

#include "tracee/tracee.h"

void abandoned_init(struct tracees *tracees);

/*
 * Handles a stop of a task that is not in the tables. Returns true if the task is an abandoned
 * thread; it has been detached or resumed.
 */
bool abandoned_let_go(struct tracees *tracees, pid_t tid, int status);

/* Removes a thread that does not stop. It is detached as soon as it stops. */
void thread_abandon(struct tracees *tracees, struct thread *thread);
/*
 * Waits up to `timeout_ms` for abandoned threads to be detached. For use when nothing else is
 * traced any more.
 */
void tracees_settle_abandoned(struct tracees *tracees, unsigned timeout_ms);

#endif
