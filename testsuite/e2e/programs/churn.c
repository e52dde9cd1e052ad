/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and children come and go as fast as they can, each calling what is traced: three threads that
 * make short-lived threads, one that forks and vforks. Ends at SIGTERM; says how often something went wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static int bad;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static void wrong(void)
{
	__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
}

static void *leaf(void *argument)
{
	char text[16];

	snprintf(text, sizeof text, "%d", 7);
	if (strtol(text, NULL, 10) != 7)
		wrong();
	return argument;
}

static void *breed(void *argument)
{
	while (!stop) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, leaf, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return argument;
}

static void expect_status(pid_t child, int expected)
{
	int status = -1;

	if (child < 0 || waitpid(child, &status, 0) != child || status != expected) {
		fprintf(stderr, "child %d: status 0x%x, not 0x%x\n", (int)child, status, expected);
		wrong();
	}
}

static void *multiply(void *argument)
{
	while (!stop) {
		pid_t child = fork();

		if (child == 0) {
			leaf(NULL);
			_exit(5);
		}
		expect_status(child, 5 << 8);
		child = vfork();
		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(99);
		}
		expect_status(child, 0);
	}
	return argument;
}

int main(void)
{
	pthread_t threads[4];

	signal(SIGTERM, on_term);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, i == 3 ? multiply : breed, NULL))
			return 2;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %d\n", bad);
	return bad != 0;
}
