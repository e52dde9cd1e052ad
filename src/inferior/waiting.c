/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two ways of waiting: to sleep until the kernel wakes us, or to look again and again for at
 * most LOOK_NS and sleep only then. Of every ROUND short waits a few are made in the way that
 * seems worse, to notice when that changes; the others in the better one. Long waits say
 * nothing about the way; when they follow one another the tracee is simply not stopped often,
 * and looking would only burn the processor.
 */
#include "inferior/waiting.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

enum {
	WAIT_FLAGS = __WALL | __WNOTHREAD, /* tracees belong to the tracing thread */
};

enum {
	SLEEPING,
	LOOKING,
	LOOK_NS = 60000,
	SHORT_NS = 400000, /* waits longer than this are the tracee's own time */
	ROUND = 256,
	TRIALS = 6,   /* waits of each round in the other way */
	IDLE_MAX = 4, /* long waits in a row that end looking */
	WEIGHT = 8    /* of what was known against one new time */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int choose(const struct waiting *waiting)
{
	unsigned place = waiting->count % ROUND;
	int better = waiting->cost[LOOKING] < waiting->cost[SLEEPING] ? LOOKING : SLEEPING;

	if (waiting->idle >= IDLE_MAX)
		return SLEEPING;
	return place < TRIALS ? !better : better;
}

/* How long to look: once it takes longer than sleeping would have, nothing is left to win. */
static uint64_t look_limit(const struct waiting *waiting)
{
	uint64_t limit = waiting->cost[SLEEPING] + waiting->cost[SLEEPING] / 4;

	return limit < LOOK_NS ? limit : LOOK_NS;
}

static void learn(struct waiting *waiting, int way, uint64_t took)
{
	if (took > SHORT_NS) {
		waiting->idle += waiting->idle < IDLE_MAX;
		return;
	}
	waiting->idle = 0;
	waiting->count++;
	waiting->cost[way] = (waiting->cost[way] * (WEIGHT - 1) + took) / WEIGHT;
}

pid_t waiting_next(struct waiting *waiting, bool block, int *status)
{
	pid_t tid = 0;

	if (block) {
		int way = choose(waiting);
		uint64_t limit = look_limit(waiting);
		uint64_t start = now_ns();

		if (way == LOOKING)
			do
				tid = waitpid(-1, status, WAIT_FLAGS | WNOHANG);
			while (!tid && now_ns() - start < limit);
		if (!tid)
			tid = waitpid(-1, status, WAIT_FLAGS);
		int error = errno;

		learn(waiting, way, now_ns() - start);
		errno = error;
	} else {
		tid = waitpid(-1, status, WAIT_FLAGS | WNOHANG);
	}
	return tid < 0 ? -errno : tid;
}
