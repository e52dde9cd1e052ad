/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An object for dlopen: its constructor, destructor and function call libwork. */
#include "work.h"

int plugin_inner(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static __attribute__((constructor)) void construct(void)
{
	work_add(1000, 1);
}

static __attribute__((destructor)) void destruct(void)
{
	work_add(2000, 2);
}

int plugin_run(int n)
{
	int sum = work_add(plugin_inner(n), 3000);

	__asm__ volatile("" : "+r"(sum));
	return sum;
}
