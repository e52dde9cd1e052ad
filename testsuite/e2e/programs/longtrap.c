/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs into breakpoints of its own, in one byte and in two, between calls. Prints how often. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int hits;

static void count(int signal)
{
	(void)signal;
	hits++;
}

int main(void)
{
	signal(SIGTRAP, count);
	for (int i = 0; i < 10; i++) {
		hits += 100;
		__asm__ volatile(".byte 0xcd, 3" ::: "memory");
		hits += 100;
		__asm__ volatile("int3" ::: "memory");
		hits += getenv("LONGTRAP") != NULL;
	}
	printf("%d\n", hits);
	return 0;
}
