/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that runs this program again when a line comes on stdin, and two that sleep, or as many as it is told; the
 * second time it says so and ends. The kernel has the exec wait until the other threads are gone, whoever keeps them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *self;

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *run_again(void *unused)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) == 1)
		execl(self, self, "again", (char *)NULL);
	_exit(9);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "again")) {
		puts("again");
		return 42;
	}
	self = argv[0];
	for (int sleepers = argc > 1 ? atoi(argv[1]) : 1; sleepers > 0; sleepers--)
		if (pthread_create(&thread, NULL, sleep_on, NULL))
			return 2;
	if (pthread_create(&thread, NULL, run_again, NULL))
		return 2;
	puts("ready");
	fflush(stdout);
	sleep_on(NULL);
	return 0;
}
