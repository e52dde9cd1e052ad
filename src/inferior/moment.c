/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When it is, and when what is being served was. */
#include "inferior/inferior.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t inferior_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t inferior_wall_clock(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t inferior_event_clock(const struct inferior *inferior)
{
	return inferior->event ? inferior->event : inferior_clock();
}

/*
 * How far the system's clock is ahead of inferior_clock(): of some readings the one in which least
 * was between the two, as this task may be kept from running there, or its machine.
 */
static uint64_t wall_ahead(void)
{
	enum { READINGS = 8, NARROW_NS = 200 };
	uint64_t least = UINT64_MAX, ahead = 0;
	uint64_t before = inferior_clock();

	for (int i = 0; i < READINGS && least > NARROW_NS; i++) {
		const uint64_t wall = inferior_wall_clock();
		const uint64_t after = inferior_clock();

		if (after - before < least) {
			least = after - before;
			ahead = wall - (before + least / 2);
		}
		before = after;
	}
	return ahead;
}

uint64_t inferior_event_wall_clock(struct inferior *inferior)
{
	if (!inferior->event)
		return inferior_wall_clock();
	/* Several calls that end at once end at the same time. */
	if (inferior->wall_event != inferior->event) {
		inferior->wall_event = inferior->event;
		inferior->wall = inferior->event + wall_ahead();
	}
	return inferior->wall;
}
