/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that go deep, on a stack that is big enough, and calls that jump to others. */
#include "flow.h"

#include <pthread.h>

static long depth;
static unsigned long sum;

static void deeper(void *level)
{
	if ((long)level < depth)
		COUNT(call)(deeper, (void *)((long)level + 1));
	sum = flow_mix(sum, (long)level);
}

static void *deep(void *unused)
{
	COUNT(call)(deeper, (void *)1);
	mark(0);
	return NULL;
}

static void on_a_big_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, 64 << 20) ||
	    pthread_create(&thread, &attributes, deep, NULL))
		exit(9);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	depth = argc > 1 ? atol(argv[1]) : 100;
	flow_ready();
	on_a_big_stack();
	mark(0);
	for (int i = 0; i < 20; i++) {
		sum = flow_mix(sum, COUNT(tail)(i));
		mark(0);
	}
	flow_report(sum);
	return 4;
}
