/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads that have whoever looks at their calls from inside fault all the time: "strings" passes addresses that
 * cannot be read as strings, in "clock" they may not read the processor's clock. See rounds.h for the lines on stdin; at
 * "stop" it says how often a result was wrong.
 */
#include "hostile.h"
#include "rounds.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

enum { THREADS = 2 };

static atomic_bool stop, without_clock;
static atomic_long wrong;
static atomic_ulong rounds[THREADS];

static void *work(void *argument)
{
	atomic_ulong *round = argument;

	if (without_clock && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		wrong++;
	while (!stop) {
		const char *text = without_clock ? "text"
						 : (char *)(8 + *round % 3 * PAGE + *round % 7);

		if (host_bytes(text, 16) != (int)((uintptr_t)text & 7))
			wrong++;
		++*round;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	without_clock = argc > 1 && !strcmp(argv[1], "clock");
	if (rounds_run(work, rounds, THREADS, &stop))
		return 2;
	printf("wrong %ld\n", (long)wrong);
	return 0;
}
