/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of --top while the trace goes on. All of it may be called where there is none. */
#ifndef TRACER_SESSION_LIVE_VIEW_H
#define TRACER_SESSION_LIVE_VIEW_H

#include <stdbool.h>

struct session;

/*
 * Begins to show the view, if --top asks for it. To be called before anything is traced. Returns 0,
 * or -errno after a message.
 */
int live_view_start(struct session *session);
/* Ends it, and leaves the terminal as it was. */
void live_view_stop(struct session *session);

/* Does what keys ask for, and shows what is new. The trace ends if the user wants to leave. */
void live_view_check(struct session *session);
/* Returns true if the signal was for the view: the size of the terminal has changed. */
bool live_view_signal(struct session *session, int signal);

/* Around a stop of the tracer by job control. */
void live_view_suspend(struct session *session);
void live_view_resume(struct session *session);

#endif
