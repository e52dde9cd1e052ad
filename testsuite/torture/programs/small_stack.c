/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals arrive while a thread is at the end of a small stack, in a callback of qsort(). The handler has a stack
 * of its own. Exits with 1 if anything below the small stack has changed.
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { BELOW = 8192, STACK = 16384, LEFT = 96, ROUNDS = 20, FILLED = 0x5a };

static unsigned char memory[BELOW + STACK] __attribute__((aligned(16)));
static unsigned char handlers[65536];
static ucontext_t outside, inside;
static volatile sig_atomic_t handled;

static void handler(int number)
{
	(void)number;
	handled = 1;
}

static int compare(const void *one, const void *other)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 2000}};
	volatile char *rest;

	handled = 0;
	setitimer(ITIMER_REAL, &soon, NULL);
	rest = alloca((size_t)((unsigned char *)__builtin_frame_address(0) - (memory + BELOW)) - LEFT);
	rest[0] = 0;
	while (!handled)
		;
	return *(const int *)one - *(const int *)other;
}

static void run(void)
{
	int numbers[] = {2, 1};

	qsort(numbers, 2, sizeof *numbers, compare);
}

int main(void)
{
	const stack_t stack = {.ss_sp = handlers, .ss_size = sizeof handlers};
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	memset(memory, FILLED, BELOW);
	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		getcontext(&inside);
		inside.uc_stack.ss_sp = memory + BELOW;
		inside.uc_stack.ss_size = STACK;
		inside.uc_link = &outside;
		makecontext(&inside, run, 0);
		swapcontext(&outside, &inside);
	}
	for (size_t i = 0; i < BELOW; i++) {
		if (memory[i] != FILLED) {
			printf("changed %zu bytes below the stack\n", BELOW - i);
			return 1;
		}
	}
	return 0;
}
