/* SPDX-License-Identifier: GPL-2.0-or-later */
/* descend() calls itself: argument 1 levels deep, argument 2 times. Prints how many levels that were. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) long descend(long levels)
{
	volatile long below = levels ? descend(levels - 1) + 1 : 0;

	return below;
}

int main(int argc, char **argv)
{
	long times = argc == 3 ? atol(argv[2]) : 0;
	long levels = 0;

	while (times-- > 0)
		levels += descend(atol(argv[1]));
	printf("%ld\n", levels);
	return 0;
}
