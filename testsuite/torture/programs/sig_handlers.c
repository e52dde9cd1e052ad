/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers that call traced functions: plain, nested, on stacks of their own. Where such a stack lies
 * matters to who follows pending calls by stack pointer: somewhere else, above or below the calls that
 * were interrupted, in a mapping of its own or in that of the thread's stack.
 */
#include "sig.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_BYTES = 65536 };

/* ---- plain and nested ---- */

static void on_plain(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	sum((unsigned long)call_outer(number) + (unsigned long)call_slot(3, number));
}

static void send_one(void *unused)
{
	(void)unused;
	raise(SIGUSR1);
	sum((unsigned long)call_leaf(4));
}

static void plain(const struct arguments *arguments)
{
	handle(SIGUSR1, on_plain, 0, NULL);
	for (int i = 0; i < arguments->number[0]; i++) {
		call_back(send_one, NULL);
		work(1);
	}
}

static const int CHAIN[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGURG, SIGWINCH};
enum { CHAIN_LENGTH = sizeof CHAIN / sizeof *CHAIN };

static void raise_next(void *next)
{
	raise(*(const int *)next);
}

static void on_chain(int number, siginfo_t *info, void *context)
{
	int place = 0;

	(void)info;
	check_pc(context);
	while (CHAIN[place] != number)
		place++;
	sum((unsigned long)call_leaf(place));
	if (place + 1 < CHAIN_LENGTH)
		call_back(raise_next, (void *)&CHAIN[place + 1]);
	sum((unsigned long)call_outer(place));
}

static volatile int depth;

/* Interrupts itself. */
static void on_itself(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	depth++;
	call_leaf(depth);
	if (depth < 20)
		raise(number);
	call_leaf(depth);
	depth--;
}

static void nested(const struct arguments *arguments)
{
	for (int i = 0; i < CHAIN_LENGTH; i++)
		handle(CHAIN[i], on_chain, 0, NULL);
	handle(SIGRTMIN, on_itself, SA_NODEFER, NULL);
	for (int i = 0; i < arguments->number[0]; i++) {
		raise(CHAIN[0]);
		raise(SIGRTMIN);
		work(1);
	}
	printf("depth %d\n", depth);
}

/* ---- signal stacks ---- */

static _Thread_local uintptr_t stack_low;
static _Thread_local sigjmp_buf back;
static _Atomic unsigned long on_stack, off_stack;

static void note_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (here >= stack_low && here < stack_low + STACK_BYTES)
		on_stack++;
	else
		off_stack++;
}

static void on_own_stack(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	note_stack();
	sum((unsigned long)call_outer(number) + (unsigned long)call_slot(5, number));
	call_back(send_one, NULL); /* blocked: comes when this one is left, on the same stack */
}

static void on_other(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	note_stack();
	sum((unsigned long)call_outer(number));
}

static void on_jump(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	note_stack();
	sum((unsigned long)call_outer(number));
	counters->left[CALLBACK]++; /* jump() below */
	siglongjmp(back, 1);
}

static void raise_that(void *number)
{
	raise(*(int *)number);
	sum((unsigned long)call_leaf(9));
}

static void jump(void)
{
	int number = SIGRTMIN + 1;

	if (sigsetjmp(back, 1) == 0)
		call_back(raise_that, &number);
	sum((unsigned long)call_outer(2));
}

/* Calls that are pending while the handler runs, on both sides of it in time. */
static void use_stack(void *stack, int times, int flags)
{
	stack_t old, new = {.ss_sp = stack, .ss_size = STACK_BYTES, .ss_flags = flags};
	int usr2 = SIGUSR2;

	stack_low = (uintptr_t)stack;
	if (sigaltstack(&new, &old))
		die("sigaltstack");
	for (int i = 0; i < times; i++) {
		call_back(raise_that, &usr2);
		raise(SIGUSR2);
		if (!flags)
			jump();
		work(1);
	}
	sigaltstack(&old, NULL);
}

struct place {
	const char *name;
	int times, flags;
};

static char in_bss[STACK_BYTES] __attribute__((aligned(16)));

static __attribute__((noinline)) void below(const struct place *place, char *stack)
{
	use_stack(stack, place->times, place->flags);
}

static void *in_place(void *argument)
{
	const struct place *place = argument;

	if (!strcmp(place->name, "own")) { /* above everything that is called from here */
		char stack[STACK_BYTES] __attribute__((aligned(16)));

		below(place, stack);
	} else if (!strcmp(place->name, "heap")) {
		char *stack = malloc(STACK_BYTES);

		below(place, stack);
		free(stack);
	} else if (!strcmp(place->name, "bss")) {
		below(place, in_bss);
	} else { /* next to what was mapped last: often a thread's stack */
		char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		below(place, stack);
		munmap(stack, STACK_BYTES);
	}
	return NULL;
}

/* A stack right above, and in the same mapping as, the thread's. */
static void beside(struct place *place)
{
	enum { THREAD_BYTES = 1 << 20 };
	char *memory = mmap(NULL, THREAD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, memory, THREAD_BYTES);
	if (pthread_create(&thread, &attributes, in_place, place))
		die("pthread_create");
	pthread_join(thread, NULL);
}

static void stacks(const struct arguments *arguments)
{
	static const char *const names[] = {"own", "heap", "bss", "mapped"};

	handle(SIGUSR1, on_other, SA_ONSTACK, NULL);
	sigset_t usr1 = set_of(SIGUSR1);

	handle(SIGUSR2, on_own_stack, SA_ONSTACK, &usr1);
	handle(SIGRTMIN + 1, on_jump, SA_ONSTACK, NULL);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct place place = {names[i], arguments->number[0], 0};
		pthread_t threads[3];

		in_place(&place);
		for (int k = 0; k < 3 && strcmp(names[i], "bss"); k++)
			if (pthread_create(&threads[k], NULL, in_place, &place))
				die("pthread_create");
		for (int k = 0; k < 3 && strcmp(names[i], "bss"); k++)
			pthread_join(threads[k], NULL);
		printf("%s: on the stack %lu, off %lu\n", names[i], on_stack, off_stack);
		beside(&place);
	}
	printf("on the stack %lu, off %lu\n", on_stack, off_stack);
}

/* The stack is disarmed while a handler runs on it: the next signal finds none. */
static void disarmed(const struct arguments *arguments)
{
	struct place place = {"own", arguments->number[0], (int)(1U << 31) /* SS_AUTODISARM */};
	sigset_t usr1 = set_of(SIGUSR1);

	handle(SIGUSR1, on_other, SA_ONSTACK, NULL);
	handle(SIGUSR2, on_own_stack, SA_ONSTACK, &usr1);
	in_place(&place);
	place.name = "heap";
	in_place(&place);
	printf("on the stack %lu, off %lu\n", on_stack, off_stack);
}

/* ---- handlers that are left by siglongjmp ---- */

static void on_leave(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	sum((unsigned long)call_leaf(number));
	counters->left[CALLBACK]++;
	siglongjmp(back, 1);
}

static void leave(const struct arguments *arguments)
{
	int usr1 = SIGUSR1;

	handle(SIGUSR1, on_leave, 0, NULL);
	for (volatile int i = 0; i < arguments->number[0]; i++) {
		if (sigsetjmp(back, 1) == 0)
			call_back(raise_that, &usr1);
		work(1);
	}
}

const struct verb handler_verbs[] = {
	{"plain", plain}, {"nested", nested}, {"stacks", stacks}, {"disarmed", disarmed}, {"leave", leave}, {0},
};
