/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rounds.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 16, ENOUGH = 3 };

/* Makes no system call: a sandboxed program may not sleep. */
static void await_progress(const atomic_ulong *rounds, int threads)
{
	unsigned long before[THREADS_MAX];

	for (int i = 0; i < threads; i++)
		before[i] = rounds[i];
	for (int i = 0; i < threads; i++)
		while (rounds[i] < before[i] + ENOUGH)
			;
}

static void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

void rounds_serve(const atomic_ulong *rounds, int threads)
{
	char line[64];

	say("ready");
	while (fgets(line, sizeof line, stdin) && strncmp(line, "stop", 4) != 0) {
		await_progress(rounds, threads);
		say("done");
	}
}

int rounds_run(void *(*work)(void *), atomic_ulong *rounds, int threads, atomic_bool *stop)
{
	pthread_t started[THREADS_MAX];

	for (int i = 0; i < threads; i++)
		if (pthread_create(&started[i], NULL, work, &rounds[i]))
			return 2;
	rounds_serve(rounds, threads);
	*stop = true;
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	return 0;
}
