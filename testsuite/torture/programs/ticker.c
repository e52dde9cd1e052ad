/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads that call functions of libc under a timer of 1 kHz, whose handler returns into the middle of
 * whatever was run; SIGTRAP has a handler, too, though nobody sends it. With "nested" the timer is slower, and its handler
 * has another one run for 2 ms, on a stack of its own. Lines on stdin, each answered with "done": "progress", "stop",
 * which says how often something went wrong.
 */
#include "rounds.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { THREADS = 2, STACK = 65536 };

static atomic_bool stop;
static atomic_long wrong, ticks;
static atomic_ulong rounds[THREADS];

static void on_alarm(int number)
{
	(void)number;
	ticks++;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	wrong++;
}

static void on_nested(int number)
{
	(void)number;
	nanosleep(&(struct timespec){0, 2000000}, NULL);
}

static void on_alarm_nested(int number)
{
	on_alarm(number);
	raise(SIGUSR1);
}

static void *work(void *argument)
{
	stack_t own = {.ss_sp = malloc(STACK), .ss_size = STACK};

	if (!own.ss_sp || sigaltstack(&own, NULL))
		wrong++;
	atomic_ulong *round = argument;
	char text[32];

	while (!stop) {
		unsigned long number = 3040599783UL + *round % 1000;

		snprintf(text, sizeof text, "%lu", number);
		if (strtoul(text, NULL, 10) != number)
			wrong++;
		++*round;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction trap = {.sa_flags = SA_SIGINFO}, alarm = {.sa_flags = SA_RESTART | SA_NODEFER};
	struct sigaction nested = {.sa_flags = SA_RESTART | SA_ONSTACK};
	struct itimerval often = {{0, 1000}, {0, 1000}};

	trap.sa_sigaction = on_trap;
	alarm.sa_handler = on_alarm;
	nested.sa_handler = on_nested;
	sigaction(SIGUSR1, &nested, NULL);
	if (argc > 1 && !strcmp(argv[1], "nested")) {
		alarm = (struct sigaction){.sa_flags = SA_RESTART};
		alarm.sa_handler = on_alarm_nested;
		often = (struct itimerval){{0, 4000}, {0, 4000}};
	}
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGALRM, &alarm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (rounds_run(work, rounds, THREADS, &stop))
		return 2;
	printf("wrong %ld ticks %ld\n", (long)wrong, (long)ticks);
	return 0;
}
