/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setjmp and longjmp: out of one traced call, of several, of recursion, again and again from one place. */
#include "flow.h"

static jmp_buf outer;
static jmp_buf inner;
static unsigned long sum;

static void jump_out(void *argument)
{
	mark(1 + *(int *)argument);
	LEFT(jump, 1);
	COUNT(jump)(outer, 7);
}

/* Out of one call. */
static void from_one(int round)
{
	int level = 0;

	if (setjmp(outer) == 0) {
		LEFT(call, 1);
		COUNT(call)(jump_out, &level);
	}
	mark(0);
	sum = flow_mix(sum, COUNT(add)(round, 2));
}

static void deeper(void *argument)
{
	int *levels = argument;

	if (++*levels < 5)
		COUNT(call)(deeper, argument);
	else
		longjmp(outer, 5);
}

/* Out of five calls, one inside the other. */
static void from_several(int round)
{
	int levels = 0;

	if (setjmp(outer) == 0)
		COUNT(call)(deeper, &levels);
	LEFT(call, 5);
	mark(0);
	sum = flow_mix(sum, round);
}

static void caught_halfway(void *argument)
{
	int level = 1;

	mark(1);
	if (setjmp(inner) == 0) {
		int levels = 0;

		if (setjmp(outer) == 0)
			COUNT(call)(deeper, &levels);
		LEFT(call, 5);
		longjmp(inner, 1);
	}
	mark(1);
	sum = flow_mix(sum, COUNT(add)(*(int *)argument, level));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	flow_ready();
	for (int i = 0; i < rounds; i++) {
		from_one(i);
		from_several(i);
		COUNT(call)(caught_halfway, &i);
		mark(0);
	}
	flow_report(sum);
	return 3;
}
