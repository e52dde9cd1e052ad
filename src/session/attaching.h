/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching to the processes of -p, and saying when tracing of each has begun. */
#ifndef TRACER_SESSION_ATTACHING_H
#define TRACER_SESSION_ATTACHING_H

struct process;
struct session;

/*
 * Attaches to all processes of the options. The user is told of each that cannot be attached to,
 * and session->unattached counts them. 0, or the -errno of the first of these when no process is
 * left, and there is no command either.
 */
int attaching_start(struct session *session);

/*
 * All functions that are known are planted in the process: the user is told, once, if -p named it.
 */
void attaching_done(struct session *session, struct process *process);

#endif
