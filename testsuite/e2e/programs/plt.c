/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls through the PLT, whatever it looks like. The order of calls and the arguments are what a test
 * compares: a slot that is taken for another one gives a wrong name.
 */
#include "outer.h"
#include "work.h"

#include <stdio.h>

int main(void)
{
	int (*volatile pointer)(int) = work_square; /* taken and called: .plt.got */
	int sum = 0;

	for (int i = 1; i <= 3; i++) {
		sum += work_add(i, 10);
		sum += work_square(i);
		sum += work_factorial(i);
	}
	sum += pointer(4);
	sum += outer_add(5, 50);
	work_echo("text");
	sum += work_add(6, 60);
	sum += work_ifunc(7);
	sum += work_ifunc(8);
	printf("sum %d\n", sum);
	return 0;
}
