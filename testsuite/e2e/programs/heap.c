/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far the heap grows: to a gigabyte, if nothing is in its way. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEP = 32 << 20, STEPS = 32 };

int main(void)
{
	int steps = 0;

	while (steps < STEPS && sbrk(STEP) != (void *)-1)
		steps++;
	printf("%d steps %d\n", steps, abs(-1));
	return 0;
}
