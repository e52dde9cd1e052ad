/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386 functions that take their arguments off the stack themselves: few, many, and as many as a
 * `ret` can. Prints the sum of what they return.
 */
#include <stdio.h>

#define POPS __attribute__((stdcall, noipa))

struct large {
	double values[9];
};

struct huge {
	char bytes[65000];
};

POPS int pops_few(int a, int b)
{
	return a + b;
}

POPS int pops_many(struct large large, int more)
{
	return (int)large.values[8] + more;
}

POPS int pops_nested(struct large large, int more)
{
	return pops_many(large, more) + pops_many(large, more + 1);
}

POPS int pops_most(struct huge huge, int more)
{
	return huge.bytes[64999] + more;
}

int main(void)
{
	static struct large large = {{0, 0, 0, 0, 0, 0, 0, 0, 10}};
	static struct huge huge;
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += pops_few(i, 1) + pops_nested(large, i) + pops_most(huge, i);
	printf("%d\n", sum);
	return 0;
}
