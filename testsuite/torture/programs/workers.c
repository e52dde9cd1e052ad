/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Four workers with all signals blocked that call strtol() and look at their masks, and a thread that creates
 * and joins short-lived ones. Lines on stdin, each answered with "done": "progress", "stop".
 */
#define _GNU_SOURCE
#include "rounds.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4 };

static atomic_bool stop;
static atomic_long wrong, bad_masks;
static atomic_ulong rounds[WORKERS + 1];

static void call(void)
{
	if (strtol("77", NULL, 10) != 77)
		wrong++;
}

static void *work(void *argument)
{
	atomic_ulong *round = argument;
	sigset_t now;

	pthread_setname_np(pthread_self(), "worker");
	while (!stop) {
		call();
		if (++*round % 64 == 0) {
			pthread_sigmask(SIG_BLOCK, NULL, &now);
			bad_masks += !sigismember(&now, SIGTRAP) || !sigismember(&now, SIGUSR1);
		}
	}
	return NULL;
}

static void *brief(void *argument)
{
	sigset_t now;

	call();
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	bad_masks += sigismember(&now, SIGTRAP) != 0;
	return argument;
}

static void *breed(void *argument)
{
	while (!stop) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, brief, NULL) == 0)
			pthread_join(thread, NULL);
		++*(atomic_ulong *)argument;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS + 1];
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, work, &rounds[i]))
			return 2;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pthread_create(&threads[WORKERS], NULL, breed, &rounds[WORKERS]))
		return 2;
	rounds_serve(rounds, WORKERS + 1);
	stop = true;
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %ld masks %ld\n", (long)wrong, (long)bad_masks);
	return 0;
}
