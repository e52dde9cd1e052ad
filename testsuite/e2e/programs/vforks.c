/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Six threads that vfork all the time. Their children live for some milliseconds in this memory, call what
 * is traced, and are gone. Ends at SIGTERM; says how often something went wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, CALLS = 4, STATUS = 5, PAUSE_NS = 3000000 };

static volatile sig_atomic_t stop;
static int bad;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static void *multiply(void *argument)
{
	while (!stop) {
		int status = -1;

		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		pid_t child = vfork();

		if (child == 0) {
			for (int i = 0; i < CALLS; i++) {
				nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
				if (strtol("7", NULL, 10) != 7)
					_exit(1);
			}
			_exit(STATUS);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status != STATUS << 8) {
			fprintf(stderr, "child %d: status 0x%x\n", (int)child, status);
			__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
		}
	}
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];

	signal(SIGTERM, on_term);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, multiply, NULL))
			return 2;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %d\n", bad);
	return bad != 0;
}
