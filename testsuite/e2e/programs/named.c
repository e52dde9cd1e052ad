/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static functions, whose names strip(1) takes away, and one that is exported. */
#include <stdio.h>

struct named_point {
	int x, y;
};

int named_open(int number);
static volatile int sum;

static __attribute__((noinline)) int named_inner(const struct named_point *point, int times)
{
	sum += point->x * times;
	return sum + point->y;
}

static __attribute__((noinline)) int named_other(int number)
{
	sum += number;
	return sum;
}

int named_open(int number)
{
	const struct named_point point = {number, 4};

	return named_inner(&point, 2) + named_other(number);
}

int main(void)
{
	printf("%d\n", named_open(3));
	return 0;
}
