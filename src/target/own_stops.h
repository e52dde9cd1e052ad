/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stops at the tracer's own hooks, where no probe is: -v shows how many there are. */
#ifndef TRACER_TARGET_OWN_STOPS_H
#define TRACER_TARGET_OWN_STOPS_H

struct target;

/*
 * Prints the number of breakpoint stops, and how many of them were at which of the session's hooks.
 */
void own_stops_show(const struct target *target);

#endif
