/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls libwork's functions from within others, and from a function that the C library calls back. */
#include "work.h"

#include <stdlib.h>
#include <unistd.h>

static int compare(const void *left, const void *right)
{
	return work_add(*(const int *)left, *(const int *)right);
}

__attribute__((noinline)) int innermost(int number)
{
	int sum = work_square(number);

	return sum + 1;
}

__attribute__((noinline)) int middle(int number)
{
	int sum = innermost(number);

	return sum + 1;
}

int main(void)
{
	int numbers[] = {2, 1};

	qsort(numbers, 2, sizeof *numbers, compare);
	return middle(3) == 0 || write(STDOUT_FILENO, "", 0) != 0;
}
