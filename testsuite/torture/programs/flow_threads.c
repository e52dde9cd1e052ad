/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that end inside traced calls: pthread_exit, cancellation in both ways, with cleanup on the way. */
#include "flow.h"

#include <pthread.h>
#include <unistd.h>

static unsigned long total;

static void add_up(unsigned long value)
{
	__atomic_add_fetch(&total, value, __ATOMIC_RELAXED);
}

static void clean_up(void *around)
{
	mark((int)(long)around);
	add_up(COUNT(add)((long)around, 100));
}

static void leave(void *result)
{
	pthread_cleanup_push(clean_up, (void *)2);
	LEFT(call, 2);
	pthread_exit(result);
	pthread_cleanup_pop(0);
}

static void leave_by_library(void *result)
{
	pthread_cleanup_push(clean_up, (void *)1);
	LEFT(call, 1);
	LEFT(leave, 1);
	COUNT(leave)(result);
	pthread_cleanup_pop(0);
}

static void inner(void *result)
{
	mark(1);
	COUNT(call)(leave, result);
}

static void *exits(void *result)
{
	COUNT(call)(inner, result);
	return NULL;
}

static void *exits_by_library(void *result)
{
	pthread_cleanup_push(clean_up, (void *)0);
	COUNT(call)(leave_by_library, result);
	pthread_cleanup_pop(0);
	return NULL;
}

static void wait_inside(void *inside)
{
	pthread_cleanup_push(clean_up, (void *)1);
	LEFT(call, 1);
	LEFT(wait, 1);
	COUNT(wait)(inside);
	pthread_cleanup_pop(0);
}

static void *waits(void *inside)
{
	mark(0);
	COUNT(call)(wait_inside, inside);
	return NULL;
}

static void spin_inside(void *inside)
{
	pthread_cleanup_push(clean_up, (void *)1);
	LEFT(call, 1);
	LEFT(spin, 1);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	COUNT(spin)(inside);
	pthread_cleanup_pop(0);
}

static void *spins(void *inside)
{
	COUNT(call)(spin_inside, inside);
	return NULL;
}

static void *returns(void *result)
{
	mark(0);
	return (void *)COUNT(add)((long)result, 1);
}

static void await(volatile int *flag)
{
	while (!*flag)
		usleep(100);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;

	flow_ready();
	for (int i = 0; i < rounds; i++) {
		static volatile int waiting, spinning;
		pthread_t threads[5];
		void *result;

		waiting = spinning = 0;
		pthread_create(&threads[0], NULL, exits, (void *)7);
		pthread_create(&threads[1], NULL, exits_by_library, (void *)8);
		pthread_create(&threads[2], NULL, waits, (void *)&waiting);
		pthread_create(&threads[3], NULL, spins, (void *)&spinning);
		pthread_create(&threads[4], NULL, returns, (void *)9);
		await(&waiting);
		await(&spinning);
		pthread_cancel(threads[2]);
		pthread_cancel(threads[3]);
		for (int k = 0; k < 5; k++) {
			pthread_join(threads[k], &result);
			add_up(result == PTHREAD_CANCELED ? 1000 : (unsigned long)result);
		}
		mark(0);
	}
	flow_report(total);
	return 6;
}
