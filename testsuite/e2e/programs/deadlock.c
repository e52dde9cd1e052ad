/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads wait for each other's mutex, one for an event that never comes, and the main thread
 * for input; with the argument "run", one more computes. Each epoll_wait(2) that fails is reported.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
volatile unsigned long computed;

__attribute__((noinline)) static void take(pthread_mutex_t *held, pthread_mutex_t *wanted)
{
	pthread_mutex_lock(held);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(wanted);
	computed++;
}

static void *take_first(void *argument)
{
	take(&first, &second);
	return argument;
}

static void *take_second(void *argument)
{
	take(&second, &first);
	return argument;
}

static void *wait_for_event(void *argument)
{
	struct epoll_event event;
	int poll = epoll_create1(0);

	for (;;)
		if (epoll_wait(poll, &event, 1, -1) < 0) {
			printf("epoll_wait failed: %d\n", errno);
			fflush(stdout);
		}
	return argument;
}

__attribute__((noinline)) static void compute(void)
{
	for (;;)
		computed++;
}

static void *run(void *argument)
{
	compute();
	return argument;
}

int main(int argc, char **argv)
{
	void *(*const functions[])(void *) = {take_first, take_second, wait_for_event, run};
	const int count = argc > 1 && strcmp(argv[1], "run") == 0 ? 4 : 3;
	char line[64];

	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, functions[i], NULL))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		printf("heard %s", line);
		fflush(stdout);
	}
	return 0;
}
