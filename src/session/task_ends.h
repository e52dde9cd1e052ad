/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of tasks and programs: see task_ends.c. */
#ifndef TRACER_SESSION_TASK_ENDS_H
#define TRACER_SESSION_TASK_ENDS_H

#include "session/session_state.h"

/* Handles STOP_EXEC. */
void task_execs(struct session *session, struct stop *stop);
/* Handles STOP_ENDING, except that the thread is not resumed. */
void task_is_ending(struct session *session, struct thread *thread);
/* Handles STOP_EXITED and STOP_KILLED. Frees the thread. */
void task_has_ended(struct session *session, struct stop *stop);
/* Drops what is known of a space if its last process is about to go. `space` may be NULL. */
void task_drops_space(struct session *session, struct space *space);

#endif
