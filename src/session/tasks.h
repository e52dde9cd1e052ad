/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks come and go: see tasks.c. */
#ifndef TRACER_SESSION_TASKS_H
#define TRACER_SESSION_TASKS_H

#include "session/session_state.h"

/* Handles every stop that no breakpoint has caused. */
void tasks_stop(struct session *session, struct stop *stop);

#endif
