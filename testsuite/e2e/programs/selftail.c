/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selftail TIMES DEPTH: a function that tail-calls itself so often, which is one return in the end.
 * Prints what came of it.
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) int self_tail(int depth);
static int (*volatile next)(int) = self_tail;

__attribute__((noipa)) int self_tail(int depth)
{
	return depth > 0 ? next(depth - 1) : 1;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, depth = argc > 2 ? atoi(argv[2]) : 1, sum = 0;

	while (times--)
		sum += self_tail(depth);
	printf("%d\n", sum);
	return 0;
}
