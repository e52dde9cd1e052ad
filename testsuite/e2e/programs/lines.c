/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack of functions of several source files: of this one, of a header, and of one that #line names. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) long in_parser(long number)
{
#line 700 "generated/the parser.y"
	const long parent =
		getppid();

	return parent + number;
}

#line 2000 "far/away.c"
__attribute__((noinline, section(".text.elsewhere"))) long far_away(long number);

#include "lines_inner.h"

#line 3000 "far/away.c"
long far_away(long number)
{
	long sum = 0;

	for (long i = 0; i < number; i++)
		sum += in_header(i);
	return sum;
}

static int compare(const void *left, const void *right)
{
	return far_away(1) > 0 ? *(const int *)left - *(const int *)right : 0;
}

#line 40 "lines.c"
int main(void)
{
	int numbers[] = {2, 1};

	qsort(numbers, 2, sizeof *numbers, compare);
	return far_away(2) == 0;
}
