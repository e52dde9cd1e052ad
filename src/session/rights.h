/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that give privileges: set-user-ID, set-group-ID, file capabilities: see rights.c. */
#ifndef TRACER_SESSION_RIGHTS_H
#define TRACER_SESSION_RIGHTS_H

#include "session/session_state.h"

/* Reports, once for each program, that it has set-ID bits or capabilities that tracing disables. */
void rights_check(struct session *session, const struct thread *thread);

#endif
