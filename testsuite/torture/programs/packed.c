/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that call libpacked.c's functions; what the second one returns is to be 7. See rounds.h. */
#include "rounds.h"

#include <stdio.h>

enum { THREADS = 2 };

void packed_first(void);
int packed_second(void);

static atomic_bool stop;
static atomic_long wrong;
static atomic_ulong rounds[THREADS];

static void *work(void *argument)
{
	atomic_ulong *round = argument;

	while (!stop) {
		if (++*round % 64 == 0)
			packed_first();
		wrong += packed_second() != 7;
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
