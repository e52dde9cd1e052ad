/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls tail_wait() of libtail for the time that is its argument. */
#include <stdio.h>
#include <stdlib.h>

int tail_wait(int milliseconds);

int main(int argc, char **argv)
{
	puts("ready");
	fflush(stdout);
	return tail_wait(argc > 1 ? atoi(argv[1]) : 0) == 1;
}
