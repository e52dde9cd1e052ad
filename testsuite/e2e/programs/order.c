/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: order ROUNDS. Four threads that call order_work() twenty times, sleep for a moment, and so on. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, CALLS = 20 };

__attribute__((noipa)) long order_work(long x)
{
	return x + 1;
}

static void *run(void *rounds)
{
	for (long i = 0; i < *(long *)rounds; i++) {
		for (long k = 0; k < CALLS; k++)
			order_work(k);
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, &rounds))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
