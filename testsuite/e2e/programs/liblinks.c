/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "links.h"

#include <stdarg.h>
#include <stddef.h>

#define NUMBER(name) LINK_##name,
enum { LINKS(NUMBER) LINK_COUNT };
#undef NUMBER

static int entered[LINK_COUNT];

/* Noted in memory, so that no compiler makes anything of what it knows of the function. */
static int enter(int index, int n)
{
	((volatile int *)entered)[index]++;
	return LINK_FACTOR * n;
}

#define PLAIN(name)                                                                                \
	__attribute__((noinline)) int link_##name(int n, ...)                                      \
	{                                                                                          \
		return enter(LINK_##name, n);                                                      \
	}
PLAIN(one)
PLAIN(two)
PLAIN(three)
PLAIN(loop)
PLAIN(tail)
PLAIN(early)
PLAIN(passed)
PLAIN(both)

/* Arguments on the stack, too: the sum of the eight behind the first. */
int link_many(int n, ...)
{
	va_list arguments;
	int sum = 0;

	va_start(arguments, n);
	for (int i = 0; i < 8; i++)
		sum += va_arg(arguments, int);
	va_end(arguments);
	return enter(LINK_many, n) + sum;
}

#ifdef NO_IFUNC
PLAIN(ifunc)
#else
static int implementation(int n, ...)
{
	return enter(LINK_ifunc, n);
}

static int (*resolver(void))(int n, ...)
{
	return implementation;
}

int link_ifunc(int n, ...) __attribute__((ifunc("resolver")));
#endif

int links_entered(int index, const char **name)
{
#define NAME(name) "link_" #name,
	static const char *const names[] = {LINKS(NAME)};

	*name = index < LINK_COUNT ? names[index] : NULL;
	return index < LINK_COUNT ? entered[index] : 0;
}

void *links_address(int index)
{
#define ADDRESS(name) (void *)link_##name,
	void *const addresses[] = {ADDRESSED_LINKS(ADDRESS) NULL};

	return addresses[index];
}
