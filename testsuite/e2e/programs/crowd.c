/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd THREADS: that many, each of which calls crowd_work() a hundred times for each line of standard input, and waits
 * for the others. Says "ready", and "done" when all have.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 100 };

static pthread_barrier_t begin, end;

int crowd_work(int n);

__attribute__((noinline)) int crowd_work(int n)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop" : "+r"(n));
	return n + 1;
}

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_barrier_wait(&begin);
		for (int i = 0; i < CALLS; i++)
			crowd_work(i);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	char line[64];
	pthread_t thread;

	pthread_barrier_init(&begin, NULL, (unsigned)count + 1);
	pthread_barrier_init(&end, NULL, (unsigned)count + 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	/* Made when asked for the first time, so that a tracer may be there before. */
	for (int made = 0; fgets(line, sizeof line, stdin); puts("done")) {
		for (; made < count; made++)
			pthread_create(&thread, NULL, work, NULL);
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
	}
	return 0;
}
