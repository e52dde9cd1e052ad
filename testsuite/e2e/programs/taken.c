/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls one function and takes the address of another: built with -fno-plt, both are slots of the GOT. */
#include <stdlib.h>

void (*taken(void))(void)
{
	return abort;
}

int taken_call(int n)
{
	return abs(n) + 1;
}
