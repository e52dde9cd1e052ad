/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths DEPTH ROUNDS THREADS: calls work_square() with each number of DEPTH bits, on a stack that tells the number: bit by
 * bit, from the highest one on, left() and right() call each other for 0 and 1. Each thread does so ROUNDS times.
 */
#include "work.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

int left(int depth, int number);
int right(int depth, int number);

static int descend(int depth, int number)
{
	if (!depth)
		return work_square(number) & 1;
	return left(depth - 1, number * 2) + right(depth - 1, number * 2 + 1);
}

__attribute__((noinline)) int left(int depth, int number)
{
	int sum = descend(depth, number);

	return sum + 1;
}

/* With a frame of its own size, whose registers are used otherwise. */
__attribute__((noinline)) int right(int depth, int number)
{
	volatile int numbers[17] = {number};
	int sum = descend(depth, numbers[0]);

	return sum + 2 + numbers[16];
}

static int depth, rounds;

static void *run(void *unused)
{
	int sum = 0;

	(void)unused;
	for (int i = 0; i < rounds; i++)
		sum += descend(depth, 0);
	return (void *)(intptr_t)sum;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int count = argc > 3 ? atoi(argv[3]) : 0;

	if (argc < 4 || count > 16)
		return 2;
	depth = atoi(argv[1]);
	rounds = atoi(argv[2]);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
