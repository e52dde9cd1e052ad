// SPDX-License-Identifier: GPL-2.0-or-later
// Passes pointers to functions of its own, of its library and of the C library, and what is none.
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

struct table {
	int id;
	int (*run)(int);
	int (*both[2])(int);
};

int p_twice(int n);
int p_call(int (*function)(int), int n);
int p_keep(int (*function)(int));
int (*p_choose(int which))(int);
int p_table(const struct table *table);

static int own(int n)
{
	return n + 1;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void handler(int signal)
{
	(void)signal;
}

static void at_end(void)
{
}

int main(void)
{
	struct table table = {7, own, {NULL, p_twice}};
	int numbers[] = {3, 1, 2};

	p_call(own, 1);
	p_call(p_twice, 2);
	p_call(NULL, 3);
	p_keep((int (*)(int))((uintptr_t)own + 1));
	p_keep((int (*)(int))(uintptr_t)0x10);
	p_keep((int (*)(int))numbers);
	for (int i = 0; i < 3; i++)
		p_choose(i);
	p_table(&table);
	p_keep(atoi);
	qsort(numbers, 3, sizeof *numbers, compare);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR1, handler);
	signal(SIGUSR1, SIG_DFL);
	atexit(at_end);
	return 0;
}
