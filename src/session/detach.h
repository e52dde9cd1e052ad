/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detaching from processes, with their memory as it was found: see detach.c. */
#ifndef TRACER_SESSION_DETACH_H
#define TRACER_SESSION_DETACH_H

#include "session/session_state.h"

/* Restores and detaches from one process and all others that share its memory. */
void detach_process(struct session *session, pid_t pid);
/* Restores and detaches from all processes; from the command and its children if `launched_too`. */
void detach_all(struct session *session, bool launched_too);
/* Detaches from a new child that is not to be traced, after restoring its copy of the memory. */
void detach_child(struct session *session, struct thread *thread);

#endif
