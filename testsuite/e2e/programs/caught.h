/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs whose functions begin in ways that are hard to catch: handlers amid their calls, and forks.
 * Who includes this has _GNU_SOURCE, and defines call_all(), which calls all of these functions.
 */
#ifndef TRACER_TEST_CAUGHT_H
#define TRACER_TEST_CAUGHT_H

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern const char __executable_start[], etext[];
static volatile int stop, strict;
static _Thread_local volatile int inside;

static void call_all(long number);

static uintptr_t pc_of(void *context)
{
	return (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

/* What calls them runs nothing but what is here. */
static void on_timer(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (strict && inside &&
	    pc_of(context) - (uintptr_t)__executable_start >=
		    (uintptr_t)(etext - __executable_start))
		abort();
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(number, &action, NULL);
}

/* In each of two children, one after the other: the status of the first one that fails, or 0. */
static int fork_all(int calls)
{
	int status = 1;

	for (int i = 0; i < 2; i++) {
		const pid_t child = fork();

		if (!child) {
			for (int k = 0; k < calls; k++)
				call_all(k);
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (status)
			break;
		call_all(1);
	}
	return status;
}

#endif
