/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that did not stop for detaching (thread_abandon(), inferior.h): the tracer's side of the
 * wait loop. One sits in the kernel, and is let go when it comes out.
 */
#ifndef TRACER_INFERIOR_ABANDONED_H
#define TRACER_INFERIOR_ABANDONED_H

#include "inferior/inferior.h"

void abandoned_init(struct inferior *inferior);

/*
 * A stop of a task that is not in the tables. True: it was such a thread, which goes on without us.
 */
bool abandoned_let_go(struct inferior *inferior, pid_t tid, int status);

#endif
