/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for events that do not come, again and again, with a time-out, beside threads that do nothing, until its input ends.
 * Says how often a wait was interrupted: nothing comes to it, so it never is, and such programs are not prepared for it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { THREADS = 8 };

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	const int queue = epoll_create1(0);
	struct epoll_event event;
	pthread_t thread;
	long interrupted = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) <= 0)
		if (epoll_wait(queue, &event, 1, 50) < 0)
			interrupted += errno == EINTR;
	printf("interrupted %ld\n", interrupted);
	return 0;
}
