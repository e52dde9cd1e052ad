/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coroutines on stacks with guards, on stacks side by side in one array, and on the heap, which give
 * way to each other inside traced calls; some leave calls by longjmp, some never end.
 */
#include "flow.h"

#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 65536, COROUTINES = 24 };

struct coroutine {
	ucontext_t context;
	jmp_buf out;
	int number, steps;
	int ended;
};

static ucontext_t scheduler;
static struct coroutine coroutines[COROUTINES];
static struct coroutine *current;
static unsigned long sum;
static int rounds;

static void give_way(void)
{
	struct coroutine *self = current;

	COUNT(switch)(&self->context, &scheduler);
	current = self;
}

static void inside(void *argument)
{
	struct coroutine *self = argument;

	mark(1);
	give_way();
	mark(1);
	sum = flow_mix(sum, COUNT(add)(self->number, self->steps));
}

static void jump(void *argument)
{
	struct coroutine *self = argument;

	give_way();
	mark(1);
	longjmp(self->out, 1);
}

static void leave(struct coroutine *self)
{
	if (setjmp(self->out) == 0)
		COUNT(call)(jump, self);
	mark(0);
	LEFT(call, 1);
}

static void body(void)
{
	struct coroutine *self = current;

	mark(0);
	for (self->steps = 0; self->steps < rounds; self->steps++) {
		sum = flow_mix(sum, COUNT(keep)(inside, self, self->number * 1000 + self->steps));
		mark(0);
		give_way();
		if (self->number % 2)
			leave(self);
	}
	self->ended = 1;
}

static char *stack_for(int number)
{
	static char array[COROUTINES / 3][STACK];

	if (number % 3 == 0) {
		char *place = mmap(NULL, STACK + 8192, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		mprotect(place, 4096, PROT_NONE);
		mprotect(place + STACK + 4096, 4096, PROT_NONE);
		return place + 4096;
	}
	return number % 3 == 1 ? array[number / 3] : malloc(STACK);
}

static void resume_all(void)
{
	for (int i = 0; i < COROUTINES; i++)
		if (!coroutines[i].ended) {
			current = &coroutines[i];
			swapcontext(&scheduler, &current->context);
			mark(0);
		}
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 3;
	for (int i = 0; i < COROUTINES; i++) {
		struct coroutine *made = &coroutines[i];

		made->number = i;
		getcontext(&made->context);
		made->context.uc_stack.ss_sp = stack_for(i);
		made->context.uc_stack.ss_size = STACK;
		made->context.uc_link = &scheduler;
		makecontext(&made->context, body, 0);
	}
	flow_ready();
	for (int ended = 0; ended < COROUTINES;) {
		resume_all();
		ended = 0;
		for (int i = 0; i < COROUTINES; i++)
			ended += coroutines[i].ended;
	}
	flow_report(sum);
	return 8;
}
