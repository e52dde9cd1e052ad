/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Letting threads run out of the tracer's code before that is unmapped: see drain_threads.c. */
#ifndef TRACER_SESSION_DRAIN_THREADS_H
#define TRACER_SESSION_DRAIN_THREADS_H

#include "session/session_state.h"

/*
 * Stops all threads that share the memory of a process, outside of code of the tracer's that they
 * cannot be moved out of (trap_in_our_code()). Returns false if a thread stays in such code, which
 * then must not be unmapped.
 */
bool drain_threads_run(struct session *session, pid_t pid);

#endif
