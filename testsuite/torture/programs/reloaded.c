/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library to be loaded and unloaded: needs no other one, so it can be in a namespace of its own. NAME
 * (a letter) makes its functions' names, NUMBER their results.
 */
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define NAMED(prefix) JOIN(prefix, NAME)

static int born, gone_at_all;

__attribute__((noinline)) int NAMED(inner_)(int a)
{
	__asm__ volatile("" : "+r"(a));
	return a + NUMBER;
}

/* Calls inner_NAME, through a slot of this library's own. */
int NAMED(reloaded_)(int a)
{
	int inner = NAMED(inner_)(a);

	__asm__ volatile("" : "+r"(inner));
	return 2 * inner;
}

__attribute__((noinline)) int NAMED(born_)(int a)
{
	__asm__ volatile("" : "+r"(a));
	return a + 1;
}

__attribute__((noinline)) int NAMED(gone_)(int a)
{
	__asm__ volatile("" : "+r"(a));
	return a + 1;
}

static __attribute__((constructor)) void begin(void)
{
	born = NAMED(born_)(born);
}

static __attribute__((destructor)) void end(void)
{
	gone_at_all = NAMED(gone_)(gone_at_all);
}

/* How often the constructor of this copy has run. */
int NAMED(births_)(void)
{
	return born;
}
