/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls a function of the C library that is an IFUNC, and that the library itself calls, too. */
#include <stdio.h>
#include <string.h>

static char buffer[2000];

int main(void)
{
	for (size_t i = 0; i < 7; i++)
		memset(buffer, 'x', 1001 + i);
	puts(buffer + 1000);
	return 0;
}
