/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: names LIBRARY: calls the functions of libnames.c, and passes on what a terminal would obey. */
#include "hostile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"odd\033[31mred", "odd\033]0;title\007",
				    "odd\001\002\177\200\237\377", "odd\303\050\355\240\200"};

/* The same in UTF-8, or nearly in UTF-8. */
static const char *const texts[] = {
	"\302\2332J",				     /* U+009B, which is ESC [ */
	"\300\233[2J\340\200\233[2J",		     /* overlong forms of ESC */
	"abc\u202edef\u2066ghi\u2069\u200f",	     /* turned around */
	"a\u200bb\u200cc\u200dd\u2060e\ufeff\u00ad", /* of no width */
	"line\u2028paragraph\u2029",
	"Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b", /* a tower */
	"\u0338\"\u0338",				      /* strikes out a quote */
	"\U0001f469\u200d\U0001f467 \u2764\ufe0f",	      /* a family, and a heart */
	"\ue000\U000f0000\U000e0041\357\277\276\357\277\277", /* for private use, and never */
	"\355\240\200\355\260\200\364\220\200\200\345\244",   /* surrogates, too far, not all */
};

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
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		host_text(texts[i]);
	return library ? sum : 1;
}
