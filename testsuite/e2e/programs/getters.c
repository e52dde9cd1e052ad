/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions in static tables, of which only other functions tell: see struct getters. */
#include <stdio.h>
#include <stdlib.h>

typedef int function(int);

#define FUNCTION(name, factor)                                                                     \
	static __attribute__((noinline)) int name(int n)                                           \
	{                                                                                          \
		__asm__ volatile("" : "+r"(n));                                                    \
		return (factor) * n;                                                               \
	}

FUNCTION(five_times, 5)
FUNCTION(seven_times, 7)
FUNCTION(nine_times, 9)

static function *volatile fixed[3] = {0, five_times, seven_times};
static function *volatile other[3] = {0, seven_times, nine_times};
static function *volatile *volatile later; /* set by main() */
static volatile int asked;

static function *volatile *get_fixed(void)
{
	return fixed;
}

static function *volatile *get_later(void)
{
	return later;
}

static function *volatile *get_busy(void)
{
	return asked++ ? other : fixed;
}

/* What a library exports: the functions of this table return the addresses of others. */
struct getters {
	void *unused;
	function *volatile *(*fixed)(void);
	function *volatile *(*later)(void);
	function *volatile *(*busy)(void);
} getters = {0, get_fixed, get_later, get_busy};

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	printf("fixed %d\n", getters.fixed()[1](n));
	printf("fixed %d\n", getters.fixed()[2](n));
	later = other;
	printf("later %d\n", getters.later()[2](n));
	printf("busy %d\n", getters.busy()[1](n));
	return 0;
}
