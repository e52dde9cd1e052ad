/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command as a job of a shell: see job_control.c. */
#ifndef TRACER_SESSION_JOB_CONTROL_H
#define TRACER_SESSION_JOB_CONTROL_H

#include "session/session_state.h"

/* Handles a stop signal for the tracer. `command`: the launched process, or NULL. */
void job_asked_to_stop(struct session *session, struct process *command, int signal,
		       bool from_terminal);
/* Notes that a thread of `process` is in a group-stop. */
void job_stopped(struct session *session, const struct process *process);

#endif
