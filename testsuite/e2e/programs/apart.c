/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apart BYTES: threads whose stacks lie so far apart, and who are all in the same function at the
 * same time, twenty times.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 200, ROUNDS = 20 };

static pthread_barrier_t all;

__attribute__((noipa)) int apart_meet(int round)
{
	pthread_barrier_wait(&all);
	return round;
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		if (apart_meet(i) != i)
			abort();
	return unused;
}

int main(int argc, char **argv)
{
	const size_t size = argc > 1 ? strtoul(argv[1], NULL, 0) : 65536;
	pthread_t threads[THREADS];
	pthread_attr_t attributes;
	char *stacks = mmap(NULL, (THREADS + 1) * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stacks == MAP_FAILED || pthread_attr_init(&attributes) ||
	    pthread_barrier_init(&all, NULL, THREADS))
		return 2;
	stacks += size - (size_t)stacks % size;
	for (int i = 0; i < THREADS; i++)
		if (pthread_attr_setstack(&attributes, stacks + i * size, size) ||
		    pthread_create(&threads[i], &attributes, work, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
