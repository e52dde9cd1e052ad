/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stops that the tracer makes for itself, at no probe: what they cost is to be seen with -v. */
#ifndef TRACER_SESSION_OWN_STOPS_H
#define TRACER_SESSION_OWN_STOPS_H

struct session;

/* Prints how many breakpoint stops there were, and at which of the session's hooks. */
void own_stops_show(const struct session *session);

#endif
