/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that have others cancelled all the time, in a system call below functions that are traced. See rounds.h for the
 * lines on stdin; at "stop" it says how often one was not cleaned up behind, which is done by unwinding its stack where
 * this is compiled with -fexceptions.
 */
#include "rounds.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 4, LIFE_NS = 300000, NAP_NS = 100000 };

static atomic_bool stop;
static atomic_long wrong;
static atomic_ulong rounds[THREADS];

static void nap(long ns)
{
	nanosleep(&(struct timespec){0, ns}, NULL);
}

__attribute__((noinline)) int cancelled_naps(int value)
{
	nap(NAP_NS);
	return value;
}

__attribute__((noinline)) int cancelled_waits(int value)
{
	volatile int result = cancelled_naps(value);

	return result + 1;
}

static void clean(void *cleaned)
{
	++*(int *)cleaned;
}

static void *wait_for_end(void *cleaned)
{
	pthread_cleanup_push(clean, cleaned);
	for (int i = 0;; i = cancelled_waits(i) % 1000)
		;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *work(void *argument)
{
	atomic_ulong *round = argument;

	while (!stop) {
		int cleaned = 0;
		pthread_t thread;

		if (pthread_create(&thread, NULL, wait_for_end, &cleaned)) {
			wrong++;
			break;
		}
		nap(LIFE_NS);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		wrong += cleaned != 1;
		++*round;
	}
	return NULL;
}

int main(void)
{
	if (rounds_run(work, rounds, THREADS, &stop))
		return 2;
	printf("wrong %ld\n", (long)wrong);
	return 0;
}
