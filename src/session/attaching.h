/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching to the processes of -p, and telling the user when tracing of each has begun. */
#ifndef TRACER_SESSION_ATTACHING_H
#define TRACER_SESSION_ATTACHING_H

struct process;
struct session;

/*
 * Attaches to all processes of the options. Each one that cannot be attached to is reported and
 * counted in session->unattached. Returns 0; if no process is left and there is no command either,
 * the -errno of the first failure.
 */
int attaching_start(struct session *session);

/*
 * To be called when all known functions are planted in the process: tells the user so, once, if -p
 * named it.
 */
void attaching_done(struct session *session, struct process *process);

#endif
