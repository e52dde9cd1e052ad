/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that does nothing but read the clock, and notes the longest time between two readings: how long it was
 * kept from running. It is loaded into the process that is attached to. The clock is the processor's own: a function
 * could be among those that are traced, whose lines the thread might have to wait for.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

int gap_start(void);
long long gap_take(void);

static atomic_llong longest; /* ticks */

static double ns_per_tick;

static unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void calibrate(void)
{
	unsigned long long start_ticks = ticks();
	long long start = now();

	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	ns_per_tick = (double)(now() - start) / (double)(ticks() - start_ticks);
}

static void *spin(void *nothing)
{
	unsigned long long last = ticks();

	for (;;) {
		unsigned long long time = ticks();
		/* Counters of two processors may differ by a little. */
		long long gap = (long long)(time - last);

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

	calibrate();
	return pthread_create(&thread, NULL, spin, NULL);
}

/* ns, of the time since it was asked last. */
long long gap_take(void)
{
	return (long long)((double)atomic_exchange(&longest, 0) * ns_per_tick);
}
