/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation functions that end the tracer if memory runs out. */
#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void out_of_memory(void)
{
	out_of_room("out of memory");
}

_Noreturn void out_of_room(const char *why)
{
	fprintf(stderr, "tracer: %s\n", why);
	exit(1);
}

static void *checked(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *memory, size_t size)
{
	return checked(realloc(memory, size ? size : 1));
}

void *xreallocarray(void *memory, size_t count, size_t size)
{
	return checked(reallocarray(memory, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *xstrndup(const char *text, size_t length)
{
	return checked(strndup(text, length));
}

void *xmemdup(const void *memory, size_t size)
{
	return memcpy(xmalloc(size), memory, size);
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return checked(length < 0 ? NULL : text);
}
