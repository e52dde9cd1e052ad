/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library whose functions have names that the compiler's command tells; loaded_in_turns.c loads several in turns. */
#include "work.h"

__attribute__((noinline)) int INNER(int number)
{
	int sum = work_square(number);

	return sum + 1;
}

int reloads(int number)
{
	int sum = INNER(number);

	return sum + 1;
}
