/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what it is told: words of the command line, one after the other; with none, or from the word
 * `serve` on, the words of each line of stdin, which it answers with "done". Each verb says what came
 * of it, so that a test can tell a tracee that was traced from one that was disturbed.
 */
#include "calls.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char **words;

bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

void say(const char *format, ...)
{
	char line[512];
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(line, sizeof line - 1, format, list);
	va_end(list);
	if (length < 0 || length > (int)sizeof line - 2)
		length = sizeof line - 2;
	line[length] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)length + 1) < 0)
		_exit(99);
}

char *next(void)
{
	if (!*words) {
		say("word missing");
		_exit(98);
	}
	return *words++;
}

/* 0 for what is no number. */
int number(void)
{
	int value = 0;

	for (const char *digit = next(); *digit >= '0' && *digit <= '9'; digit++)
		value = 10 * value + *digit - '0';
	return value;
}

/* ---- the language ---- */

static bool obey_one(const struct verb *verbs, const char *word)
{
	for (; verbs->name; verbs++)
		if (same(verbs->name, word)) {
			verbs->run();
			return true;
		}
	return false;
}

static void serve(void);

static void obey(void)
{
	while (*words) {
		const char *word = next();

		if (same(word, "serve")) {
			serve();
		} else if (!obey_one(plain_verbs, word) && !obey_one(thread_verbs, word) &&
			   !obey_one(process_verbs, word) && !obey_one(module_verbs, word)) {
			say("what is %s?", word);
			_exit(93);
		}
	}
}

/* Byte by byte: a forked child must find the next line where the parent left it. */
static bool read_line(char *line, size_t size)
{
	size_t length = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n') {
			line[length] = '\0';
			return true;
		}
		if (length < size - 1)
			line[length++] = c;
	}
	return false;
}

static void serve(void)
{
	char line[1024];
	char *list[64];

	say("ready");
	while (read_line(line, sizeof line)) {
		size_t count = 0;

		for (char *at = line; *at && count < 63;) {
			list[count++] = at;
			while (*at && *at != ' ')
				at++;
			if (*at)
				*at++ = '\0';
		}
		list[count] = NULL;
		words = list;
		obey();
		say("done");
	}
	exit(0);
}

int main(int argc, char **argv)
{
	words = argv + 1;
	if (argc == 1)
		serve();
	obey();
	return 0;
}
