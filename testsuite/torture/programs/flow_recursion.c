/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that go deep, on a stack that is big enough, and calls that jump to others.
 * flow_recursion [DEPTH [round]]: "round": the stack begins and ends at multiples of its size.
 */
#include "flow.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#define STACK_SIZE ((size_t)64 << 20)

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

/* As pthread_create() makes them: with something below that nobody may touch. */
static int set_round_stack(pthread_attr_t *attributes)
{
	char *memory = mmap(NULL, 2 * STACK_SIZE + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *stack = (char *)(((uintptr_t)memory + 8191 + STACK_SIZE) & -STACK_SIZE);

	if (memory == MAP_FAILED || munmap(memory, stack - 4096 - memory) ||
	    munmap(stack + STACK_SIZE, memory + STACK_SIZE + 8192 - stack) ||
	    mprotect(stack, STACK_SIZE, PROT_READ | PROT_WRITE))
		return -1;
	return pthread_attr_setstack(attributes, stack, STACK_SIZE);
}

static void on_a_big_stack(int round)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if ((round ? set_round_stack(&attributes) : pthread_attr_setstacksize(&attributes, STACK_SIZE)) ||
	    pthread_create(&thread, &attributes, deep, NULL))
		exit(9);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	depth = argc > 1 ? atol(argv[1]) : 100;
	flow_ready();
	on_a_big_stack(argc > 2);
	mark(0);
	for (int i = 0; i < 20; i++) {
		sum = flow_mix(sum, COUNT(tail)(i));
		mark(0);
	}
	flow_report(sum);
	return 4;
}
