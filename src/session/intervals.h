/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of -c while the trace goes on (--interval, SIGUSR1): see intervals.c. */
#ifndef TRACER_SESSION_INTERVALS_H
#define TRACER_SESSION_INTERVALS_H

#include <stdbool.h>

struct session;

/* Begins the first interval. To be called when the processes are traced. */
void intervals_start(struct session *session);
/* Shows the table of the interval that is over, if one is. */
void intervals_check(struct session *session);
/*
 * Shows the table so far if `signal` asks for one. Returns false if it does not, and has its usual
 * meaning.
 */
bool intervals_signal(struct session *session, int signal);

#endif
