/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * burns ROUNDS COUNT: calls burn() COUNT times, each of which computes for so many rounds. Prints
 * for how many ns a call had a processor, at the least.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Each round waits for the one before, so it takes the same time whatever else the processor does. */
__attribute__((noinline)) unsigned long burn(long rounds)
{
	unsigned long product = 1;

	for (long i = 0; i < rounds; i++)
		product = product * 1664525UL + 1013904223UL;
	__asm__ volatile("" : "+r"(product)); /* it has an effect: no call is left out */
	return product;
}

int main(int count, char **words)
{
	long long least = 0;

	if (count != 3)
		return 1;
	for (long i = 0; i < atol(words[2]); i++) {
		const long long start = processor_time();

		burn(atol(words[1]));
		const long long took = processor_time() - start;

		if (!least || took < least)
			least = took;
	}
	printf("%lld\n", least);
	return 0;
}
