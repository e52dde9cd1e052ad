/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: turns THREADS
 * Calls twelve functions from one place on the stack, one of them often before it is the next one's
 * turn, and all of that PHASES times; in each of so many threads.
 */
#include <pthread.h>
#include <stdlib.h>

enum { FUNCTIONS = 12, PHASES = 5, CALLS = 200, THREADS_MAX = 16 };

#define TURN(n)                                                                                    \
	__attribute__((noinline, noclone)) long turn_##n(long x);                                  \
	long turn_##n(long x)                                                                      \
	{                                                                                          \
		__asm__ volatile("" : "+r"(x));                                                    \
		return x * 3 + (n);                                                                \
	}

TURN(0)
TURN(1)
TURN(2)
TURN(3)
TURN(4)
TURN(5)
TURN(6)
TURN(7)
TURN(8)
TURN(9)
TURN(10)
TURN(11)

static long (*const turns[FUNCTIONS])(long) = {turn_0, turn_1, turn_2, turn_3, turn_4,	turn_5,
					       turn_6, turn_7, turn_8, turn_9, turn_10, turn_11};

static void *take_turns(void *unused)
{
	long x = 1;

	(void)unused;
	for (int phase = 0; phase < PHASES; phase++)
		for (int i = 0; i < FUNCTIONS; i++)
			for (int k = 0; k < CALLS; k++)
				x = turns[i](x);
	return (void *)x;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[THREADS_MAX];

	for (int i = 0; i < count && i < THREADS_MAX; i++)
		if (pthread_create(&threads[i], NULL, take_turns, NULL))
			return 2;
	for (int i = 0; i < count && i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
