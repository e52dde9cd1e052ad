/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trapper default|handled|ignored: three threads that call strtol(); a fourth asks for the disposition of
 * SIGTRAP and, unless that is the default, raises it, also by an int3 of its own where it is handled. Lines on
 * stdin, each answered with "done": "progress", "stop". With the default it ends by SIGTRAP.
 */
#include "rounds.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

static atomic_bool stop;
static atomic_long wrong, asked; /* asked: and told something else than it had set */
static atomic_ulong rounds[THREADS];
static struct sigaction wanted;
static volatile sig_atomic_t handled;

static void handler(int number, siginfo_t *info, void *context)
{
	(void)context;
	handled += number == SIGTRAP && info->si_signo == SIGTRAP;
}

static void ask_and_raise(void)
{
	struct sigaction now;
	int before = handled;
	int expected = 0;

	if (sigaction(SIGTRAP, NULL, &now) || now.sa_sigaction != wanted.sa_sigaction ||
	    (now.sa_flags & SA_NODEFER) != (wanted.sa_flags & SA_NODEFER))
		asked++;
	if (wanted.sa_handler != SIG_DFL)
		raise(SIGTRAP);
	if (wanted.sa_sigaction == handler) {
		__asm__ volatile("int3");
		expected = 2;
	}
	if (handled - before != expected)
		wrong++;
}

static void *work(void *argument)
{
	atomic_ulong *round = argument;

	while (!stop) {
		if (strtol("77", NULL, 10) != 77)
			wrong++;
		if (round == &rounds[0])
			ask_and_raise();
		++*round;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "handled")) {
		wanted.sa_sigaction = handler;
		wanted.sa_flags = SA_SIGINFO | SA_NODEFER;
	} else if (argc > 1 && !strcmp(argv[1], "ignored")) {
		wanted.sa_handler = SIG_IGN;
	}
	sigaction(SIGTRAP, &wanted, NULL);
	if (rounds_run(work, rounds, THREADS, &stop))
		return 2;
	printf("wrong %ld asked %ld\n", (long)wrong, (long)asked);
	fflush(stdout);
	if (wanted.sa_handler == SIG_DFL)
		raise(SIGTRAP);
	return 0;
}
