/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that lies to whoever walks its stacks. It says that it is CPython 3.12, with lists that lead in
 * circles and texts without end. Its threads rewrite their stacks, recurse, unmap the stacks that they have
 * just left, and stand with frame pointers that lead in circles or nowhere. "progress" on stdin is answered
 * with "done" when each thread has got on.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 1 << 18, WORDS = 4096 };

/* What descriptions of the version read (Include/internal/pycore_runtime.h). */
unsigned int Py_Version = 0x030c00f0;
uintptr_t _PyRuntime[WORDS];
static uintptr_t world[WORDS];
static atomic_ulong rounds[4];
static atomic_int stop;

/* Everything is a pointer to the middle of itself, now and then a number or a wild pointer. */
static void lie(unsigned int seed)
{
	for (int i = 0; i < WORDS; i++) {
		const unsigned int kind = (unsigned int)rand_r(&seed) % 16;

		world[i] = kind < 12 ? (uintptr_t)&world[(unsigned int)rand_r(&seed) % (WORDS / 2)]
			   : kind < 14 ? (uintptr_t)rand_r(&seed)
				       : (uintptr_t)-1;
		_PyRuntime[i] = (uintptr_t)&world[(unsigned int)rand_r(&seed) % (WORDS / 2)];
	}
}

__attribute__((noinline)) static int recurse(int depth, unsigned int *seed)
{
	volatile uintptr_t frame[8];

	for (int i = 0; i < 8; i++)
		frame[i] = (uintptr_t)&frame[rand_r(seed) % 8];
	return depth ? recurse(depth - 1, seed) + (int)(frame[0] & 1) : 0;
}

static void *recursing(void *argument)
{
	unsigned int seed = 1;

	while (!stop) {
		lie(seed);
		recurse(rand_r(&seed) % 500, &seed);
		rounds[0]++;
	}
	return argument;
}

/* Stands still with a frame pointer that leads to itself, down, or nowhere, in code without rows. */
static void *looping(void *argument)
{
	uintptr_t *memory = argument;

	while (!stop) {
		for (int i = 0; i < 512; i++)
			memory[i] = (uintptr_t)&memory[(i * 7 + (int)rounds[1]) % 512];
		__asm__ volatile("push %%rbp\n\tmov %0, %%rbp\n\tmov $20000, %%rcx\n"
				 "1:\tdec %%rcx\n\tjnz 1b\n\tpop %%rbp"
				 :
				 : "r"(&memory[256])
				 : "rcx", "memory", "cc");
		rounds[1]++;
	}
	return NULL;
}

static void *sleeping(void *argument)
{
	usleep(300);
	rounds[2]++;
	return argument;
}

/* Makes threads whose stacks are unmapped as soon as they have ended. */
static void *making(void *argument)
{
	while (!stop) {
		void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
		pthread_attr_t attributes;
		pthread_t thread;

		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stack, STACK);
		if (stack != MAP_FAILED && !pthread_create(&thread, &attributes, sleeping, NULL))
			pthread_join(thread, NULL);
		munmap(stack, STACK);
		pthread_attr_destroy(&attributes);
		rounds[3]++;
	}
	return argument;
}

static void wait_for_progress(void)
{
	unsigned long before[4];

	for (int i = 0; i < 4; i++)
		before[i] = rounds[i];
	for (int i = 0; i < 4; i++)
		while (rounds[i] == before[i])
			usleep(1000);
}

int main(void)
{
	static uintptr_t memory[1024];
	pthread_t threads[3];
	char line[64];

	lie(7);
	if (pthread_create(&threads[0], NULL, recursing, NULL) ||
	    pthread_create(&threads[1], NULL, looping, memory) ||
	    pthread_create(&threads[2], NULL, making, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (!strcmp(line, "stop\n"))
			break;
		wait_for_progress();
		puts("done");
		fflush(stdout);
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
