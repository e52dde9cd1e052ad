/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls each of libpreserved.c's functions 30 times, from three places each. Prints a sum. */
#include "preserved.h"

#include <stdio.h>

__attribute__((noinline)) static int most(int number)
{
	preserved_most(number - 2);
	preserved_most(number - 1);
	preserved_most(number * 3);
	return number;
}

__attribute__((noinline)) static int by_windows(int number)
{
	int sum = number;

	sum = sum * 3 + preserved_by_windows(number - 2);
	sum = sum * 3 + preserved_by_windows(number - 1);
	return sum * 3 + preserved_by_windows(sum);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += most(i) + by_windows(i);
	printf("%d\n", sum + preserved_total());
	return 0;
}
