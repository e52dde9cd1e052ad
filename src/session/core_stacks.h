/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of all threads of a core dump: see core_stacks.c. */
#ifndef TRACER_SESSION_CORE_STACKS_H
#define TRACER_SESSION_CORE_STACKS_H

#include "session/session_state.h"

/*
 * Shows the stacks of all threads of the core dump options->core. Returns 0 or -errno, which was
 * reported.
 */
int core_stacks_show(struct session *session);

#endif
