/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clocks: monotonic and wall-clock time, now and at the stop that is being handled: see
 * clock.c.
 */
#ifndef TRACER_TRACEE_CLOCK_H
#define TRACER_TRACEE_CLOCK_H

#include "tracee/tracee.h"

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_now(void);
/* Nanoseconds since the Epoch, the unit of the time stamps in records. */
uint64_t clock_wall(void);
/*
 * clock_now() and clock_wall() at the stop that is being handled, or the current values if none is.
 * Records are stamped with these values: the records of what other threads do during the stop must
 * have later time stamps.
 */
uint64_t clock_of_event(const struct tracees *tracees);
uint64_t clock_wall_of_event(struct tracees *tracees);

#endif
