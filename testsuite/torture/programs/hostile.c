/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: hostile ACT [NUMBER]
 * A program that makes itself hard to trace, and then makes calls that must be traced nevertheless. As
 * torture.py wants it: "ready", a line from stdin, the work, what was counted. Exits 77 with a reason
 * on stdout when the machine cannot do it.
 */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int plain_calls, text_calls, bytes_calls, format_calls, fill_calls;
static uint64_t checksum = 17;
static int number = -1;

void note(uint64_t value)
{
	checksum = (checksum ^ value) * 0x100000001b3U;
}

void plain(int times)
{
	for (int i = 0; i < times; i++) {
		plain_calls++;
		note((uint64_t)host_plain(i));
	}
}

void unseen(int times)
{
	plain_calls -= times;
}

void text(const void *pointer)
{
	text_calls++;
	host_text(pointer);
}

void bytes(const void *pointer, unsigned long length)
{
	bytes_calls++;
	host_bytes(pointer, length);
}

void format(const void *pointer)
{
	format_calls++;
	host_format(pointer, 1, 2.0, "three");
}

void fill(void *pointer, unsigned long length)
{
	fill_calls++;
	host_fill(pointer, length);
}

void cannot(const char *what)
{
	printf("cannot: %s\n", what);
	exit(77);
}

int argument(int otherwise)
{
	return number < 0 ? otherwise : number;
}

static const struct act *find(const char *name)
{
	const struct act *const tables[] = {memory_acts, blocked_acts, linker_acts, code_acts};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct act *act = tables[i]; act->name; act++)
			if (!strcmp(act->name, name))
				return act;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct act *act = argc > 1 ? find(argv[1]) : NULL;
	char line[64];

	if (!act)
		return 2;
	if (argc > 2)
		number = atoi(argv[2]);
	if (act->prepare)
		act->prepare();
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof line, stdin))
		return 2;
	plain(3);
	act->work();
	plain(5);
	printf("counted host_plain %d\ncounted host_text %d\ncounted host_bytes %d\n"
	       "counted host_format %d\ncounted host_fill %d\nchecksum %llu\n",
	       plain_calls, text_calls, bytes_calls, format_calls, fill_calls,
	       (unsigned long long)checksum);
	return 5;
}
