/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions of libraries that may be linked in, and one of its own that has the name of
 * another library's. With an argument it waits for its input to end first. With FOREIGN it is what
 * stands for that library.
 */
#include <math.h>
#include <stdio.h>

#ifdef FOREIGN

unsigned long crc32(unsigned long crc, const unsigned char *text, unsigned length)
{
	while (length--)
		crc += *text++;
	return crc;
}

int inflateReset(short number)
{
	return number + 1;
}

#else

unsigned long crc32(unsigned long crc, const unsigned char *text, unsigned length);
int inflateReset(short number);

volatile double number = 2.5;

__attribute__((noinline)) int compress(int level)
{
	__asm__ volatile("" : "+r"(level));
	return level + 1;
}

int main(int count, char **arguments)
{
	double whole;

	if (count > 1) {
		printf("%s\n", arguments[1]);
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	printf("%.3f ", sin(number));
	printf("%.3f ", floor(number));
	printf("%.3f ", modf(number, &whole));
	printf("%.3f ", pow(number, 2));
	printf("%lu ", crc32(0, (const unsigned char *)"text", 4));
	printf("%d ", inflateReset(7));
	printf("%d\n", compress(3));
	return 0;
}

#endif
