/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls one of two functions of the C library that are IFUNCs, by a pointer. Linked statically,
 * they are called by stubs elsewhere.
 *
 * usage: picks TIMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static char *pick(int first, const char *text)
{
	return (first ? strchr : strrchr)(text, 'b');
}

int main(int argc, char **argv)
{
	int found = 0;

	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		found += pick(i & 1, "picked by") != NULL;
	found += strchr("by a stub", 'b') != NULL;
	printf("%d\n", found);
	return 0;
}
