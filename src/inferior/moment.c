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

uint64_t inferior_event_wall_clock(const struct inferior *inferior)
{
	const uint64_t now = inferior_wall_clock();

	return inferior->event ? now - (inferior_clock() - inferior->event) : now;
}
