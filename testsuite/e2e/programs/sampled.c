/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: sampled WHAT CALLS
 * Makes so many calls: "turns" of s_even() and s_odd() in turns, "nested" of s_outer(), which calls s_inner(), "deep" of
 * s_deep(), each in the one before, "spans" of s_begin() and s_end(), "system" of getppid(2), "threads" of s_even() in
 * each of four threads.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, visibility("default"), optimize("no-optimize-sibling-calls")))

enum { THREADS = 4 };

KEPT int s_even(int number)
{
	__asm__ volatile("" : : : "memory");
	return number + 1;
}

KEPT int s_odd(int number)
{
	__asm__ volatile("" : : : "memory");
	return number + 2;
}

KEPT int s_inner(int number)
{
	__asm__ volatile("" : : : "memory");
	return number + 3;
}

KEPT int s_outer(int number)
{
	const int result = s_inner(number);

	__asm__ volatile("" : : : "memory");
	return result + 1;
}

KEPT int s_deep(int left)
{
	const int result = left ? s_deep(left - 1) : 0;

	__asm__ volatile("" : : : "memory");
	return result + 1;
}

KEPT int s_begin(int key)
{
	__asm__ volatile("" : : : "memory");
	return key;
}

KEPT int s_end(int key)
{
	__asm__ volatile("" : : : "memory");
	return key + 7;
}

/* A moment for the tracer to catch the functions inside: they stay with breakpoints if a loop never leaves them. */
static void pause_for(int i)
{
	if (i % 1000 == 99)
		usleep(100);
}

static void *run_thread(void *calls)
{
	int result = 0;

	for (int i = 0; i < *(const int *)calls; i++) {
		pause_for(i);
		result |= s_even(i);
	}
	return (void *)(long)(result == -1);
}

static int run_threads(int calls)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_thread, &calls))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const int calls = argc == 3 ? atoi(argv[2]) : 0;
	const char *what = argc == 3 ? argv[1] : "";
	int result = 0;

	if (!strcmp(what, "threads"))
		return run_threads(calls);
	if (!strcmp(what, "deep"))
		return s_deep(calls - 1) != calls;
	for (int i = 0; i < calls; i++) {
		pause_for(i);
		if (!strcmp(what, "turns"))
			result |= i % 2 ? s_odd(i) : s_even(i);
		else if (!strcmp(what, "nested"))
			result |= s_outer(i);
		else if (!strcmp(what, "spans"))
			result |= s_begin(i) | s_end(i);
		else if (!strcmp(what, "system"))
			result |= (int)syscall(SYS_getppid);
	}
	return result == -1 || !calls;
}
