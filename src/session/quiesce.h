/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All threads of an address space are stopped: see quiesce.c. */
#ifndef TRACER_SESSION_QUIESCE_H
#define TRACER_SESSION_QUIESCE_H

#include "session/session_state.h"

/* Stops all threads that share the memory of a process, also those that appear meanwhile. */
void quiesce_process(struct session *session, pid_t pid);
/* Visits the threads of a process and of all others that are known to live in its space. */
void each_neighbour(struct session *session, pid_t pid, thread_visit *visit, void *context);

#endif
