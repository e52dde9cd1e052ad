/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that others branch into, behind their first, second, third and fourth byte, as libc's mempcpy() does into
 * memcpy(). Each adds one. "steps": by single steps, which are counted. "forks": a child calls them, too. "storm": three
 * threads go on and on amid signals, until the input ends; where those find them is not looked at with another argument.
 */
#define _GNU_SOURCE
#include "caught.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { CALLS = 1000, THREADS = 3 };

long n_second(long), n_third(long), n_fourth(long), n_fifth(long);
long j_second(long), j_third(long), j_fourth(long), j_fifth(long);

#define FUNCTION(name, first)                                                                                          \
	__asm__(".p2align 4\n"                                                                                         \
		".globl n_" name ", j_" name "\n"                                                                      \
		".type n_" name ", @function\n"                                                                        \
		".type j_" name ", @function\n"                                                                        \
		"n_" name ":\n" first "1: mov %edi, %eax\n"                                                            \
		"	add $1, %eax\n"                                                                                \
		"	ret\n"                                                                                         \
		".size n_" name ", . - n_" name "\n"                                                                   \
		".p2align 4\n"                                                                                         \
		"j_" name ":	add $10, %rdi\n"                                                                        \
		"	cmp $7, %rdi\n"                                                                                \
		"	jmp 1b\n"                                                                                      \
		".size j_" name ", . - j_" name "\n")

FUNCTION("second", "clc\n");
FUNCTION("third", "mov %edi, %edi\n");
FUNCTION("fourth", "mov %rdi, %rdi\n");
FUNCTION("fifth", ".byte 0x48, 0x8d, 0x7f, 0x00\n"); /* lea 0(%rdi), %rdi */

static long (*const functions[])(long) = {n_second, n_third, n_fourth, n_fifth, j_second, j_third, j_fourth, j_fifth};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static volatile unsigned long steps;

static void on_step(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (pc_of(context) - (uintptr_t)__executable_start >= (uintptr_t)(etext - __executable_start))
		abort();
	steps++;
}

static void call_all(long i)
{
	for (size_t k = 0; k < FUNCTIONS; k++)
		if (functions[k](i) != i + 1 + 10 * (k >= FUNCTIONS / 2))
			abort();
}

static void *call_on(void *unused)
{
	inside = 1;
	while (!stop)
		call_all(3);
	inside = 0;
	return unused;
}

static int storm(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	pthread_t threads[THREADS];
	sigset_t timer;
	char byte;

	handle(SIGALRM, on_timer);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_on, NULL);
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &timer, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

#define FLIP __asm__ volatile("pushfq\n xorq $0x100, (%%rsp)\n popfq" ::: "memory", "cc")

static void step(void)
{
	handle(SIGTRAP, on_step);
	for (int i = 0; i < 10; i++) {
		FLIP;
		for (size_t k = 0; k < FUNCTIONS; k++)
			functions[k](i);
		FLIP;
	}
	printf("steps %lu\n", steps);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	strict = argc == 2;
	if (!strcmp(what, "storm"))
		return storm();
	if (!strcmp(what, "steps"))
		step();
	else
		for (int i = 0; i < CALLS; i++)
			call_all(i);
	puts("good");
	fflush(stdout);
	return strcmp(what, "forks") ? 0 : fork_all(CALLS);
}
