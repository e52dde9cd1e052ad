/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads that start programs with posix_spawn(3) all the time, and look how they end. Lines on stdin, each
 * answered with "done": "progress", "stop", which says how often something went wrong.
 */
#include "rounds.h"

#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>

enum { THREADS = 2 };

static atomic_bool stop;
static atomic_long wrong;
static atomic_ulong rounds[THREADS];

static void *work(void *argument)
{
	atomic_ulong *round = argument;
	char *const command[] = {"true", NULL}, *const none[] = {NULL};

	while (!stop) {
		pid_t child;
		int status = -1;

		if (posix_spawn(&child, "/bin/true", NULL, NULL, command, none) != 0 ||
		    waitpid(child, &status, 0) != child || status != 0) {
			fprintf(stderr, "status 0x%x\n", status);
			wrong++;
		}
		++*round;
	}
	return NULL;
}

int main(void)
{
	if (rounds_run(work, rounds, THREADS, &stop))
		return 2;
	printf("wrong %ld\n", wrong);
	return wrong != 0;
}
