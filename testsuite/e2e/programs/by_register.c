/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has a function's address in a register, and calls it by that, as compilers do in loops. */
#include <stdio.h>
#include <string.h>

static char buffer[2000];

int main(void)
{
	void *(*fill)(void *, int, size_t) = memset;

	for (size_t i = 0; i < 7; i++) {
		__asm__ volatile("" : "+r"(fill));
		fill(buffer, 'x', 1001 + i);
	}
	puts(buffer + 1000);
	return 0;
}
