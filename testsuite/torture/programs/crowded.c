/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: crowded THREADS ROUNDS: so many threads at once, each of which makes five calls and sleeps, so many times. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 4096, STACK_BYTES = 65536, CALLS = 5, PAUSE_US = 5000 };

static long rounds;

__attribute__((noipa)) long crowded_work(long number)
{
	return number + 1;
}

static void *work(void *wrong)
{
	for (long i = 0; i < rounds; i++) {
		for (long k = 0; k < CALLS; k++)
			if (crowded_work(i * k) != i * k + 1)
				*(volatile int *)wrong = 1;
		usleep(PAUSE_US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t threads[THREADS_MAX];
	long count = argc == 3 ? atol(argv[1]) : 0;
	pthread_attr_t small;
	static int wrong;

	if (count < 1 || count > THREADS_MAX)
		return 2;
	rounds = atol(argv[2]);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], &small, work, &wrong))
			return 3;
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%s\n", wrong ? "wrong" : "right");
	return 0;
}
