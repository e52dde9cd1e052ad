/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: goadd [LIBRARY]. Calls GoAdd() 50 times, which is linked in, or LIBRARY's; before that is
 * loaded, before_loading() 1000 times.
 */
#include <dlfcn.h>
#include <stdio.h>

#pragma weak GoAdd
int GoAdd(int a, int b);

__attribute__((noipa)) long before_loading(long x)
{
	return x + 1;
}

int main(int argc, char **argv)
{
	int (*add)(int, int) = GoAdd;
	long sum = 0;

	for (int i = 0; argc > 1 && i < 1000; i++)
		sum += before_loading(i);
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);

		add = library ? (int (*)(int, int))dlsym(library, "GoAdd") : NULL;
	}
	for (int i = 0; add && i < 50; i++)
		sum += add(i, 1);
	printf("%ld\n", sum);
	return add ? 0 : 1;
}
