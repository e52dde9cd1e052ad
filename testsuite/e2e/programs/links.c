/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions of liblinks in all ways that compilers make something special of, and says at the end how
 * often it has called which by its name ("called"), how often they were entered at all ("entered"), and
 * whether their addresses are the same here and there.
 */
#include "links.h"

#include <stdio.h>
#include <stdlib.h>

#define TALLY(name) static volatile int called_##name;
LINKS(TALLY)
#undef TALLY

#define CALL(name, ...) (called_##name++, link_##name(__VA_ARGS__))

static volatile int zero;

/* What is wrong is never done, so this is what compilers call cold. */
static __attribute__((noinline)) void must(int right, const char *what)
{
	if (right)
		return;
	printf("wrong: %s\n", what);
	exit(1);
}

static __attribute__((noinline)) int tail(int n)
{
	called_tail++;
	return link_tail(n);
}

/* A function that is called often and kept in a register, among others that are. */
static __attribute__((noinline)) int loops(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += CALL(loop, i);
		if (i % 2)
			sum += CALL(two, 1);
		else
			sum += CALL(three, 1) + CALL(three, 1);
	}
	return sum;
}

/* Passed on, and called by its name as well; called elsewhere by what was passed. */
static __attribute__((noinline)) int call_it(int (*function)(int n, ...), int n)
{
	int result = function(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}

static __attribute__((noinline)) int pointers(void)
{
	int (*volatile passed)(int n, ...) = link_passed;
	int (*volatile both)(int n, ...) = link_both;

	return call_it(passed, 1) + call_it(passed, 2) + call_it(both, 3);
}

static __attribute__((constructor)) void early(void)
{
	must(CALL(early, 7) == 7 * LINK_FACTOR, "early");
}

static void check_addresses(void)
{
#define ADDRESS(name) (void *)link_##name,
	void *const mine[] = {ADDRESSED_LINKS(ADDRESS)};

	for (int i = 0; links_address(i); i++)
		must(mine[i] == links_address(i), "an address");
}

static void report(void)
{
#define CALLED(name) printf("called link_%s %d\n", #name, called_##name);
	LINKS(CALLED)
	const char *name;

	for (int i = 0, count; count = links_entered(i, &name), name; i++)
		printf("entered %s %d\n", name, count);
}

int main(void)
{
	must(CALL(one, 1) == LINK_FACTOR, "one");
	if (zero)
		must(CALL(two, 0) == 0 && CALL(three, 0) == 0, "what is never done");
	must(loops(6) == 15 * LINK_FACTOR + 3 * LINK_FACTOR + 6 * LINK_FACTOR, "loops");
	must(tail(2) == 2 * LINK_FACTOR && tail(3) == 3 * LINK_FACTOR, "tail calls");
	must(CALL(many, 1, 2, 3, 4, 5, 6, 7, 8, 9) == LINK_FACTOR + 44, "many");
	must(CALL(ifunc, 5) == 5 * LINK_FACTOR && CALL(ifunc, 6) == 6 * LINK_FACTOR, "ifunc");
	must(CALL(both, 2) == 2 * LINK_FACTOR, "both");
	must(pointers() == 6 * LINK_FACTOR, "pointers");
	check_addresses();
	report();
	return 0;
}
