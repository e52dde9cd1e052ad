/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Core dumps: see core_dumps.c. */
#ifndef TRACER_SESSION_CORE_DUMPS_H
#define TRACER_SESSION_CORE_DUMPS_H

#include "session/session_state.h"

/*
 * To be called before `signal` is delivered to a stopped thread: takes the breakpoints out if it
 * will dump core, so that the dump shows the program's own text.
 */
void core_dumps_before_signal(struct session *session, struct thread *thread, int signal);

#endif
