/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts THREADS CALLS: so many threads, each making so many calls of the fifty functions of libcounted in
 * an order of its own, and counting them. The threads are there before "ready" is said; they begin at the
 * line "go" on stdin. Then comes, for each thread, its tid, its calls of each function as the main program
 * made them and as the library did, and a checksum of all results; which results are right is known here.
 */
#include "counted.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct worker {
	pthread_t thread;
	unsigned seed;
	long calls;
	int tid;
	long direct[FUNCTIONS];
	struct inner_calls inner;
	unsigned long checksum;
	long wrong;
};

static struct worker workers[THREADS_MAX];
static pthread_barrier_t ready, go;

static void *run(void *argument)
{
	struct worker *worker = argument;
	unsigned random = worker->seed;

	worker->tid = (int)syscall(SYS_gettid);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&go);
	for (long i = 0; i < worker->calls; i++) {
		random = random * 1103515245U + 12345U;
		int which = (int)((random >> 16) % FUNCTIONS);
		long expected;
		long result = counted_call(which, (int)(i & 0xfff), &expected);

		worker->direct[which]++;
		worker->wrong += result != expected;
		worker->checksum = worker->checksum * 31 + (unsigned long)result;
	}
	worker->inner = inner_calls;
	return NULL;
}

static void report(int index)
{
	const struct worker *worker = &workers[index];

	for (int which = 0; which < FUNCTIONS; which++) {
		int shape = which / NUMBERS, n = which % NUMBERS;
		long inner = shape == 0	  ? worker->inner.leaf[n]
			     : shape == 1 ? worker->inner.global[n]
			     : shape == 8 ? worker->inner.recursive[n]
					  : 0;

		printf("calls %d %s_%d %ld %ld\n", worker->tid, counted_shapes[shape], n,
		       worker->direct[which], inner);
	}
	printf("thread %d checksum %lx wrong %ld\n", index, worker->checksum, worker->wrong);
}

/* Answers "ping N" until somebody says "go". */
static int await_go(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (!strcmp(line, "go\n"))
			return 1;
		if (!strncmp(line, "ping ", 5))
			target_ping(atoi(line + 5));
		puts("done");
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 4;
	long calls = argc > 2 ? atol(argv[2]) : 1000;

	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
	pthread_barrier_init(&go, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		workers[i].seed = (unsigned)i * 7919 + 1;
		workers[i].calls = calls;
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			return 3;
	}
	pthread_barrier_wait(&ready);
	if (!await_go())
		return 4;
	pthread_barrier_wait(&go);
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < threads; i++)
		report(i);
	puts("end");
	return 0;
}
