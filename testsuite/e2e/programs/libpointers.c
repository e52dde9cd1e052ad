// SPDX-License-Identifier: GPL-2.0-or-later
// Takes and gives pointers to functions.
#include <stddef.h>

struct table {
	int id;
	int (*run)(int);
	int (*both[2])(int);
};

int p_twice(int n)
{
	return 2 * n;
}

static int hidden(int n)
{
	return n;
}

int p_call(int (*function)(int), int n)
{
	return function ? function(n) : 0;
}

// Calls nothing.
int p_keep(int (*function)(int))
{
	return function != NULL;
}

int (*p_choose(int which))(int)
{
	return which == 0 ? p_twice : which == 1 ? hidden : NULL;
}

int p_table(const struct table *table)
{
	return table->id;
}
