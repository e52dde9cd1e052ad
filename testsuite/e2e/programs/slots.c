/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: slots COUNT: makes so many calls of library functions in each of the ways that code built
 * with -fno-plt has, beside signals of a timer. Says how often it did, and the results, added up.
 */
#include "work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
	(void)signal;
	ticks++;
}

/* call *work_square@GOTPCREL(%rip) */
static __attribute__((noinline)) int called(int n)
{
	int result = work_square(n & 0xff);

	__asm__ volatile("" : "+r"(result));
	return result + 1;
}

/* jmp *work_add@GOTPCREL(%rip) */
static __attribute__((noinline)) int jumped(int n)
{
	return work_add(n, 1);
}

static long by_slots(long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += called((int)i) + jumped((int)i);
	printf("called %ld\n", count);
	return sum;
}

int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 700}, {0, 700}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	long sum = by_slots(count);

	setitimer(ITIMER_REAL, &never, NULL);
	printf("sum %ld\n", sum);
	return 0;
}
