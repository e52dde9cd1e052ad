/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outer.h"
#include "work.h"

int outer_constructed;

static __attribute__((constructor)) void construct(void)
{
	outer_constructed = work_add(500, 5);
}

int outer_add(int a, int b)
{
	int sum = work_add(a, b);

	__asm__ volatile("" : "+r"(sum));
	return sum;
}

int outer_ifunc(int n)
{
	int result = work_ifunc(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}

int outer_twice(int n)
{
	int result = work_square(n) + work_square(n + 1);

	__asm__ volatile("" : "+r"(result));
	return result;
}
