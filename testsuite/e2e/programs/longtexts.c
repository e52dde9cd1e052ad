/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: longtexts SHORT
 * Passes and returns texts of all lengths, below and above what fits in a ring of the agent, SHORT
 * times a short one behind each; then objects and formats with long texts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 70000, LENGTHS = 36 };

struct note {
	int number;
	const char *text;
	char inner[6000];
};

#define TRACED __attribute__((noinline, visibility("default")))

TRACED const char *lt_take(const char *text, long number)
{
	__asm__ volatile("" ::: "memory");
	return text + number;
}

TRACED int lt_give(char *text, long length)
{
	memset(text, 'g', (size_t)length);
	text[length] = 0;
	return (int)length;
}

TRACED int lt_note(const struct note *note)
{
	__asm__ volatile("" ::: "memory");
	return note->number;
}

TRACED int lt_print(const char *format, ...)
{
	__asm__ volatile("" ::: "memory");
	return (int)strlen(format);
}

int main(int argc, char **argv)
{
	static char text[BYTES], other[BYTES];
	static struct note note;
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	long sum = 0;

	memset(text, 't', BYTES - 1);
	memset(note.inner, 'i', sizeof note.inner - 1);
	for (int i = 0; i < LENGTHS; i++) {
		const long length = i < 20 ? i * 400 : i * 1900;
		const char *end = text + BYTES - 1;

		sum += lt_take(end - length, length / 3) - end;
		sum += lt_give(other, length);
		note = (struct note){.number = i, .text = end - length};
		memset(note.inner, 'i', (size_t)(length % 5999));
		sum += lt_note(&note);
		sum += lt_print("%s, and %d, and %s", end - length, i, other);
		for (long k = 0; k < count; k++)
			sum += *lt_take("a short one", k % 5);
	}
	printf("%ld\n", sum);
	return 0;
}
