/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interpreter's loop, which is a switch, in a function that refers to a function of a library:
 * it compares with that, and calls it at the end by a pointer.
 *
 * usage: switches ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef size_t measure(const char *text);

int keep;

static size_t constant(const char *text)
{
	return text != NULL;
}

__attribute__((noinline)) size_t interpret(const unsigned char *code, long rounds, measure *hook)
{
	size_t a = hook == strlen, b = 1;

	for (long i = 0; i < rounds; i++)
		switch (code[i % 10]) {
		case 0: a += b; break;
		case 1: b ^= a << 3; break;
		case 2: a -= 7; break;
		case 3: b += a * 5; break;
		case 4: a ^= b >> 2; break;
		case 5: keep++; break;
		case 6: b = a; break;
		case 7: a = ~b; break;
		case 8: keep ^= (int)a; break;
		case 9: b -= (size_t)keep; break;
		default: abort();
		}
	keep = (int)(a + b);
	return (rounds & 1 ? constant : strlen)("three");
}

int main(int argc, char **argv)
{
	static unsigned char code[10] = {3, 1, 4, 5, 9, 2, 6, 8, 7, 0};

	printf("%zu\n", interpret(code, argc > 1 ? atol(argv[1]) : 0, argc > 2 ? constant : strlen));
	return 0;
}
