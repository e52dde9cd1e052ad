/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching to the processes of -p. */
#ifndef TRACER_SESSION_ATTACHING_H
#define TRACER_SESSION_ATTACHING_H

struct session;

/*
 * Attaches to all processes of the options. The user is told of each that cannot be attached to,
 * and session->unattached counts them. 0, or the -errno of the first of these when no process is
 * left, and there is no command either.
 */
int attaching_start(struct session *session);

#endif
