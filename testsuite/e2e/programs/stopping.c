/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls within calls: stop_outer() makes ROUNDS of what can only be caught by a breakpoint
 * (_setjmp(), which returns twice, and getppid(2)), below a recursion, and is itself called by
 * what jumps to it. Prints how many ns that took.
 */
#include <setjmp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 300, DEPTH = 200 };

static jmp_buf place;
static volatile int rounds = 1;
int stop_outer(int depth);
int stop_by_jump(int depth);
static volatile int sum;

__attribute__((noinline)) int stop_outer(int depth)
{
	if (depth) {
		sum += stop_outer(depth - 1);
		return sum + depth;
	}
	for (int i = 0; i < rounds; i++) {
		sum += _setjmp(place);
		sum += (int)getppid();
	}
	return sum;
}

__attribute__((noinline)) int stop_by_jump(int depth)
{
	sum++;
	return stop_outer(depth + sum - sum);
}

int main(void)
{
	struct timespec from;
	struct timespec to;

	stop_by_jump(1); /* so that all that is learnt by stops is known */
	rounds = ROUNDS;
	clock_gettime(CLOCK_MONOTONIC, &from);
	stop_by_jump(DEPTH);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%ld\n", (to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec);
	return 0;
}
