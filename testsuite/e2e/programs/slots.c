/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: slots COUNT [register]: makes so many calls of library functions in each of the ways that
 * code built with -fno-plt has, beside signals of a timer; or by a register that a slot was loaded
 * into. Says how often a function of the library was called, and its results, added up.
 */
#include "work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Of two functions one is called: a comparison tells which. */
static __attribute__((noinline)) long either(long n)
{
	work_function *function = n & 1 ? work_tail : work_hidden;
	long sum = 0;

	for (int i = 0; i < 4; i++)
		sum += function((int)(n & 0xff) + i);
	return sum;
}

static long by_slots(long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += called((int)i) + jumped((int)i);
	printf("called %ld\n", count);
	return sum;
}

static long by_register(long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++) {
		sum += work_square((int)i & 0xff);
		sum += work_square((int)(i >> 8) & 0xff);
		if (i % 16 == 0)
			sum += either(i);
	}
	printf("called %ld\n", 2 * count);
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
	long sum = argc > 2 && !strcmp(argv[2], "register") ? by_register(count) : by_slots(count);

	setitimer(ITIMER_REAL, &never, NULL);
	printf("sum %ld\n", sum);
	return 0;
}
