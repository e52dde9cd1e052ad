/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with its own use of SIGTRAP: handles or ignores it, blocks it, and calls what is traced
 * meanwhile. Says what is left of that.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int traps;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	traps++;
}

static void say(const char *when)
{
	struct sigaction action;
	sigset_t mask;

	sigaction(SIGTRAP, NULL, &action);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("%s: %s, blocked %d, traps %d\n", when,
	       action.sa_sigaction == on_trap ? "handled"
	       : action.sa_handler == SIG_IGN ? "ignored"
					      : "default",
	       sigismember(&mask, SIGTRAP), traps);
}

static void work(void)
{
	for (int i = 0; i < 20; i++)
		if (strtol("7", NULL, 10) != 7)
			abort();
}

int main(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};
	sigset_t all;
	sigset_t before;

	action.sa_sigaction = on_trap;
	sigfillset(&all);
	sigaction(SIGTRAP, &action, NULL);
	work();
	say("handled");
	sigprocmask(SIG_SETMASK, &all, &before);
	work();
	say("blocked");
	sigprocmask(SIG_SETMASK, &before, NULL);
	raise(SIGTRAP);
	__asm__ volatile("int3");
	say("unblocked");
	signal(SIGTRAP, SIG_IGN);
	work();
	raise(SIGTRAP);
	say("ignored");
	signal(SIGTRAP, SIG_DFL);
	work();
	say("default");
	return 0;
}
