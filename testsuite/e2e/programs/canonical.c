/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls a function without a stub, by one, and by a pointer in its data to what is one of both. */
#include <stdlib.h>

char *without_stub(const char *name) __asm__("getenv") __attribute__((noplt));

char *(*volatile pointer)(const char *) = getenv;

int main(void)
{
	without_stub("A");
	getenv("B");
	pointer("C");
	without_stub("A");
	return 0;
}
