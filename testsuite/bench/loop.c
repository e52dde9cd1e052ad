/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: loop CALLS FILE
 * Calls tiny() through the PLT so many times and writes "nanoseconds stops" of the loop alone to
 * FILE. A ptrace stop is a voluntary context switch of the thread that stops, and the loop makes no
 * other: so the kernel itself counts the stops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

long tiny(long x);

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	long calls = atol(argv[1]);
	FILE *result = fopen(argv[2], "w");

	if (!result)
		return 1;
	long x = tiny(0); /* bound before the clock runs */
	long stops = switches();
	long long start = now();

	for (long i = 0; i < calls; i++)
		x = tiny(x);
	long long end = now();

	stops = switches() - stops;
	fprintf(result, "%lld %ld\n", end - start, stops);
	return fclose(result) || x != calls + 1;
}
