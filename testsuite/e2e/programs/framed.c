// SPDX-License-Identifier: GPL-2.0-or-later
/* A program whose functions have frame pointers, built with -O0; it waits for the end of the input. */
#include <unistd.h>

int inner(int depth);

int inner(int depth)
{
	char byte;

	if (depth)
		return inner(depth - 1) + 1;
	return (int)read(STDIN_FILENO, &byte, 1);
}

int main(void)
{
	return write(STDOUT_FILENO, "ready\n", 6) < 0 || inner(3) != 3;
}
