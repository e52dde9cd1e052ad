/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin by reading what they are given a pointer to, and pointers to nothing: a handler leaves the first by a
 * jump, and maps the page for others, which then go on. Says what it has seen: where the program was, whether that is
 * in the function, and that all came out as it should. "threads": another thread calls as well all the time, and says how
 * often. "storm": goes on and on with such faults in three threads, until something is wrong or its input ends; where
 * faults are seen is not looked at with another argument.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, CALLS = 1000 };

struct item {
	long first, second;
	int small;
};

#define FUNCTION __attribute__((noinline, noclone, noipa))

FUNCTION long g_first(const struct item *item)
{
	return item->first;
}

FUNCTION long g_both(const struct item *item, long more)
{
	return item->first + item->second + more;
}

FUNCTION int g_small(const struct item *item)
{
	return item->small == 7;
}

FUNCTION long g_chain(const struct item *const *item)
{
	return (*item)->first;
}

FUNCTION void g_set(struct item *item)
{
	item->first = 5;
}

FUNCTION void g_store(struct item *item)
{
	item->first = 6;
}

static sigjmp_buf out;
static volatile uintptr_t seen;
static volatile int leaves;
static void *volatile missing;
static volatile int stop, strict;

static int is_in(uintptr_t pc, uintptr_t function)
{
	return pc - function < 16;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
#ifdef __x86_64__
	seen = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	seen = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_EIP];
#endif
	if (strict && !is_in(seen, (uintptr_t)g_first) && !is_in(seen, (uintptr_t)g_both) &&
	    !is_in(seen, (uintptr_t)g_small))
		abort();
	if (leaves)
		siglongjmp(out, 1);
	mprotect(missing, PAGE, PROT_READ | PROT_WRITE);
}

static void check(const char *name, int good)
{
	printf("%s %s\n", name, good ? "good" : "BAD");
}

static long calls;

static void *call_on(void *item)
{
	for (; !stop; calls++)
		if (g_first(item) != 3 || g_small(item) != 1)
			abort();
	return NULL;
}

static void *storm(void *unused)
{
	while (!stop) {
		mprotect(missing, PAGE, PROT_NONE);
		if (g_both(missing, 1) != 18 || g_small(missing) != 1 || g_first(missing) != 8)
			abort();
	}
	return unused;
}

static int storm_on(void)
{
	pthread_t threads[3];
	char byte;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, storm, NULL);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 && !strcmp(argv[1], "threads");
	struct item item = {3, 4, 7};
	const struct item *pointer = &item, *none = NULL;
	struct item *volatile page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	pthread_t thread;
	volatile long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "crash"))
		return (int)g_both(NULL, 1);
	sigaction(SIGSEGV, &action, NULL);
	missing = page;
	*page = (struct item){8, 9, 7};
	strict = argc == 2 && !strcmp(argv[1], "storm");
	if (strict || argc > 2)
		return storm_on();
	if (threads)
		pthread_create(&thread, NULL, call_on, &item);
	for (int i = 0; i < CALLS; i++)
		sum += g_first(&item) + g_both(&item, i) + g_small(&item) + g_chain(&pointer);
	check("sum", sum == CALLS * (3 + 7 + 1 + 3) + CALLS * (CALLS - 1) / 2);
	leaves = 1;
	if (!sigsetjmp(out, 1))
		g_first(NULL);
	check("left", is_in(seen, (uintptr_t)g_first));
	if (!sigsetjmp(out, 1))
		g_set(NULL);
	check("set", is_in(seen, (uintptr_t)g_set));
	if (!sigsetjmp(out, 1))
		g_chain(&none);
	check("chain", is_in(seen, (uintptr_t)g_chain) && seen > (uintptr_t)g_chain);
	leaves = 0;
	mprotect(page, PAGE, PROT_NONE);
	check("both", g_both(page, 1) == 18 && is_in(seen, (uintptr_t)g_both));
	mprotect(page, PAGE, PROT_NONE);
	check("small", g_small(page) == 1 && is_in(seen, (uintptr_t)g_small));
	mprotect(page, PAGE, PROT_READ);
	g_store(page);
	check("store", page->first == 6 && is_in(seen, (uintptr_t)g_store));
	for (int i = 0; i < CALLS; i++)
		sum += g_first(&item) + g_both(&item, i) + g_small(&item) + g_chain(&pointer);
	check("sum", sum == 2 * (CALLS * (3 + 7 + 1 + 3) + CALLS * (CALLS - 1) / 2));
	stop = 1;
	if (threads)
		pthread_join(thread, NULL);
	printf("calls %ld\n", calls);
	return 0;
}
