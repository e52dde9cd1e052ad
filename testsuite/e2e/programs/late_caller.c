/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that calls what it is not linked with: another one has to be there by then. */
#include "work.h"

int late_run(void)
{
	int sum = work_add(500, 5);

	__asm__ volatile("" : "+r"(sum));
	return sum;
}
