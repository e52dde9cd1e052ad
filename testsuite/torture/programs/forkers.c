/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Four threads that are inside fork(2) most of the time: each child calls a function for a while and ends. Ends at
 * SIGTERM; says how often something went wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, MEGABYTES = 24, MEGABYTE = 1 << 20, PAGE = 4096, CALLS = 1000 };

static unsigned char memory[(size_t)MEGABYTES * MEGABYTE];
static volatile sig_atomic_t stop;
static long wrong;

static void on_term(int number)
{
	(void)number;
	stop = 1;
}

static int goes_wrong(void)
{
	for (int i = 0; i < CALLS; i++)
		if (strtol("23", NULL, 10) != 23)
			return 1;
	return 0;
}

static int child_goes_wrong(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(goes_wrong() ? 1 : 7);
	if (child > 0 && waitpid(child, &status, 0) == child && status == 7 << 8)
		return 0;
	fprintf(stderr, "child %d: status 0x%x\n", (int)child, status);
	return 1;
}

static void *multiply(void *argument)
{
	while (!stop)
		__atomic_fetch_add(&wrong, child_goes_wrong(), __ATOMIC_RELAXED);
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];

	signal(SIGTERM, on_term);
	for (size_t i = 0; i < sizeof memory; i += PAGE)
		memory[i] = 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, multiply, NULL))
			return 2;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %ld\n", wrong);
	return wrong != 0;
}
