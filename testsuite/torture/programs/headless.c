/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that call what is traced, and no main thread: that has ended, so /proc/PID/maps and mem are those of nobody, and
 * the process goes on. Lines on stdin, answered by another thread: "progress", "stop".
 */
#include "rounds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3 };

static atomic_bool stop;
static atomic_long wrong;
static atomic_ulong rounds[THREADS];
static pthread_t leader;

static void *work(void *argument)
{
	atomic_ulong *round = argument;
	char text[32];

	while (!stop) {
		int number = (int)(*round % 1000);

		snprintf(text, sizeof text, "%d %d", number, 5);
		wrong += strtol(text, NULL, 10) != number;
		++*round;
	}
	return NULL;
}

static void *serve(void *unused)
{
	pthread_join(leader, NULL);
	if (rounds_run(work, rounds, THREADS, &stop))
		exit(2);
	printf("wrong %ld\n", wrong);
	exit(wrong != 0);
	return unused;
}

int main(void)
{
	pthread_t thread;

	leader = pthread_self();
	if (pthread_create(&thread, NULL, serve, NULL))
		return 2;
	pthread_exit(NULL);
}
