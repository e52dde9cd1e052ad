/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls getppid() from a depth: deep COUNT RESULT DEPTH. The ns that COUNT calls take go to RESULT. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static __attribute__((noinline)) long long from_depth(long depth, long count)
{
	long long taken;

	if (depth > 1) {
		taken = from_depth(depth - 1, count);
	} else {
		const long long start = now();

		for (long i = 0; i < count; i++)
			getppid();
		taken = now() - start;
	}
	__asm__ volatile(""); /* no tail call */
	return taken;
}

int main(int count, char **words)
{
	FILE *file = count == 4 ? fopen(words[2], "w") : NULL;

	if (!file)
		return 1;
	from_depth(atol(words[3]), 10); /* what is met for the first time is not measured */
	fprintf(file, "%lld 0\n", from_depth(atol(words[3]), atol(words[1])));
	return fclose(file) != 0;
}
