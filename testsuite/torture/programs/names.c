/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: names LIBRARY: calls the functions of libnames.c, and passes on what a terminal would obey. */
#include "hostile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"odd\033[31mred", "odd\033]0;title\007",
				    "odd\001\002\177\200\237\377", "odd\303\050\355\240\200"};

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int sum = 0;

	for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
		int (*function)(int) = (int (*)(int))(uintptr_t)dlsym(library, names[i]);

		sum += function ? function((int)i + 1) : 100;
	}
	host_text("\033[2J\033]0;x\007\r\n\t\b\200\377\303\050");
	host_format("\033[31m%s\033[0m", "\033c");
	host_bytes("\0\033\0\377", 4);
	return library ? sum : 1;
}
