/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that use ptrace(2) themselves: see debuggers.c. */
#ifndef TRACER_SESSION_DEBUGGERS_H
#define TRACER_SESSION_DEBUGGERS_H

#include "session/session_state.h"

void debuggers_init(struct session *session);
/* To be called at each stop that is no breakpoint's. True: the thread was detached. */
bool debuggers_stop(struct session *session, struct thread *thread);

#endif
