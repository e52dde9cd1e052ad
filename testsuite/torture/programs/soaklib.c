/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library to be copied under ever new names, with the number in its names replaced: soak.c does that.
 * It has so few symbols that its hash table has one bucket, and finding a name takes no hash.
 */
#include "work.h"

int soak_77777777(int n)
{
	int sum = work_add(n, 1);

	__asm__ volatile("" : "+r"(sum)); /* no tail call */
	return sum;
}
