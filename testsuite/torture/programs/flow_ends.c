/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that end by themselves inside traced calls, the first one among them, and right behind them the
 * process: by exit_group(2), or by exec of a program that tells the numbers. The calls of those that ended
 * are left; what others were in is not, and neither is what the end itself was called from.
 */
#include "flow.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

static char **words;
static int count;
static pthread_t first, enders[THREADS_MAX], waiter;
static volatile int waiting;

static void leave(void *by_library)
{
	LEFT(call, 1);
	if (by_library)
		pthread_exit(NULL);
	syscall(SYS_exit, 0);
}

static void *ends(void *by_library)
{
	COUNT(call)(leave, by_library);
	return NULL;
}

static void wait_inside(void *unused)
{
	(void)unused;
	COUNT(wait)(&waiting);
}

/* It is still in there when it is swept away. */
static void *waits(void *unused)
{
	COUNT(call)(wait_inside, unused);
	return NULL;
}

static void end(void *unused)
{
	char number[2][16];

	(void)unused;
	for (int i = 0; i < count; i++)
		pthread_create(&enders[i], NULL, ends, (void *)(long)(i & 1));
	for (int i = 0; i < count; i++)
		pthread_join(enders[i], NULL);
	if (words[2]) {
		snprintf(number[0], sizeof number[0], "%ld", flow_counted[FLOW_call]);
		snprintf(number[1], sizeof number[1], "%ld", flow_left[FLOW_call]);
		execl(words[0], words[0], words[1], words[2], number[0], number[1], NULL);
	}
	flow_report((unsigned long)count);
	_exit(6);
}

static void *last(void *unused)
{
	pthread_join(first, NULL);
	pthread_create(&waiter, NULL, waits, NULL);
	while (!waiting)
		usleep(100);
	COUNT(call)(end, unused);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 4) {
		flow_counted[FLOW_call] = atol(argv[3]);
		flow_left[FLOW_call] = atol(argv[4]);
		flow_report(1);
		return 7;
	}
	words = argv;
	count = argc > 1 ? atoi(argv[1]) % (THREADS_MAX + 1) : 8;
	flow_ready();
	first = pthread_self();
	pthread_create(&thread, NULL, last, NULL);
	COUNT(call)(leave, NULL);
	return 98;
}
