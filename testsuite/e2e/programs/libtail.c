/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function that ends with a jump to another one, which waits. */
#include <unistd.h>

__attribute__((visibility("hidden"), noinline)) int really_wait(int milliseconds)
{
	usleep((unsigned)milliseconds * 1000);
	return milliseconds + 1;
}

int tail_wait(int milliseconds)
{
	return really_wait(milliseconds);
}
