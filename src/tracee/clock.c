/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clocks: monotonic and wall-clock time, now and at the stop that is being handled. Separate
 * because of the conversion between both.
 */
#include "tracee/clock.h"

#include "tracee/tracee.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t clock_of_event(const struct tracees *tracees)
{
	return tracees->event ? tracees->event : clock_now();
}

/*
 * Returns how far wall-clock time is ahead of clock_now(), in ns. Of several readings the one with
 * the shortest time between both clocks counts, as the tracer or its virtual machine may be
 * preempted there.
 */
static uint64_t wall_ahead(void)
{
	enum { READINGS = 8, NARROW_NS = 200 };
	uint64_t least = UINT64_MAX, ahead = 0;
	uint64_t before = clock_now();

	for (int i = 0; i < READINGS && least > NARROW_NS; i++) {
		const uint64_t wall = clock_wall();
		const uint64_t after = clock_now();

		if (after - before < least) {
			least = after - before;
			ahead = wall - (before + least / 2);
		}
		before = after;
	}
	return ahead;
}

uint64_t clock_wall_of_event(struct tracees *tracees)
{
	if (!tracees->event)
		return clock_wall();
	/* All records of one stop get the same wall-clock time. */
	if (tracees->wall_event != tracees->event) {
		tracees->wall_event = tracees->event;
		tracees->wall = tracees->event + wall_ahead();
	}
	return tracees->wall;
}
