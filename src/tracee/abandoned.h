/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that did not stop for detaching: an abandoned thread is blocked in the kernel, and is
 * detached when it stops at last.
 */
#ifndef TRACER_TRACEE_ABANDONED_H
#define TRACER_TRACEE_ABANDONED_H

#include "tracee/tracee.h"

void abandoned_init(struct tracees *tracees);

/*
 * Notes a thread that does not stop. It is detached as soon as it stops. The caller removes it from
 * the tables with thread_destroy().
 */
void abandoned_add(struct tracees *tracees, const struct thread *thread);

/*
 * Handles a stop of a task that is not in the tables. Returns true if the task is an abandoned
 * thread; it has been detached or resumed.
 */
bool abandoned_let_go(struct tracees *tracees, pid_t tid, int status);

#endif
