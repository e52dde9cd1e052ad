/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads that have whoever looks at their calls from inside fault all the time: "strings" passes addresses that
 * cannot be read as strings, in "clock" they may not read the processor's clock, in "clock-later" from the SIGUSR1 on
 * that comes; in "mappings" nothing faults, but the
 * process has tens of thousands of these, and in "signals" handlers run all the time that make such calls, too. See
 * rounds.h for the lines on stdin; at "stop" it says how often a result was wrong.
 */
#include "hostile.h"
#include "rounds.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>

enum { THREADS = 2, MAPPINGS = 40000 };

static atomic_bool stop, good, without_clock;
static atomic_long wrong;
static atomic_ulong rounds[THREADS];

static void *work(void *argument)
{
	atomic_ulong *round = argument;
	bool has_clock = true;

	while (!stop) {
		if (has_clock && without_clock) {
			has_clock = false;
			wrong += prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0;
		}
		const char *text = good ? "text" : (char *)(8 + *round % 3 * PAGE + *round % 7);

		if (host_bytes(text, 16) != (int)((uintptr_t)text & 7))
			wrong++;
		++*round;
	}
	return NULL;
}

static void give_up(int signal)
{
	(void)signal;
	without_clock = true;
}

static void handle(int signal)
{
	(void)signal;
	if (host_bytes("handler", 16) != (int)((uintptr_t) "handler" & 7))
		wrong++;
	/* So that who stops the thread often finds it here. */
	for (volatile int i = 0; i < 100000; i++)
		;
}

/* By the threads' own time: they get all of them. */
static void send_signals(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}};

	signal(SIGPROF, handle);
	setitimer(ITIMER_PROF, &often, NULL);
}

/* Neighbours differ, or the kernel would make one of them. */
static bool make_mappings(void)
{
	char *all = mmap(NULL, (size_t)MAPPINGS * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	for (size_t i = 0; all != MAP_FAILED && i < MAPPINGS; i += 2)
		if (mprotect(all + i * PAGE, PAGE, PROT_NONE))
			return false;
	return all != MAP_FAILED;
}

int main(int argc, char **argv)
{
	without_clock = argc > 1 && !strcmp(argv[1], "clock");
	good = argc > 1 && strcmp(argv[1], "strings") != 0;
	signal(SIGUSR1, give_up);
	if (argc > 1 && !strcmp(argv[1], "mappings") && !make_mappings())
		return 3;
	if (argc > 1 && !strcmp(argv[1], "signals"))
		send_signals();
	if (rounds_run(work, rounds, THREADS, &stop))
		return 2;
	printf("wrong %ld\n", (long)wrong);
	return 0;
}
