/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that sleep for moments. */
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, NAPS = 1500 };

static void *nap(void *unused)
{
	for (int i = 0; i < NAPS; i++)
		usleep(1);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, nap, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
