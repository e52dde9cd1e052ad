/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that does nothing but read the clock, and notes the longest time between two readings: how long it was
 * kept from running. bench.py loads it into the process that it attaches to.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

int gap_start(void);
long long gap_take(void);

static atomic_llong longest;

/* The vDSO reads the clock: a system call would be a chance for the scheduler. */
static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *spin(void *nothing)
{
	long long last = now();

	for (;;) {
		long long time = now(), gap = time - last;

		/* gap_take() may come in between and lose one gap to the period before, which is no harm. */
		if (gap > atomic_load_explicit(&longest, memory_order_relaxed))
			atomic_store(&longest, gap);
		last = time;
	}
	return nothing;
}

int gap_start(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, spin, NULL);
}

/* ns, of the time since it was asked last. */
long long gap_take(void)
{
	return atomic_exchange(&longest, 0);
}
