// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls exec on itself as often as its argument says, each time with a second thread that waits, and mostly after 2 ms.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

int main(int argc, char **argv)
{
	const int times = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;
	char next[20];

	if (!times) {
		puts("end of the chain");
		return 9;
	}
	if (pthread_create(&thread, NULL, wait_for_ever, NULL))
		return 1;
	usleep(times % 10 ? 2000 : 100000);
	snprintf(next, sizeof(next), "%d", times - 1);
	execl("/proc/self/exe", argv[0], next, (char *)NULL);
	return 1;
}
