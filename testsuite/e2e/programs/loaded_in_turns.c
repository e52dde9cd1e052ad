/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loaded_in_turns TURNS CALLS LIBRARY...: loads each library in turn, calls its reloads() CALLS times, each time with the index of
 * the library, and unloads it. Prints how many different addresses reloads() had.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *known[16];
	int count = 0;

	if (argc < 4)
		return 2;
	for (int i = 0; i < atoi(argv[1]); i++) {
		int index = i % (argc - 3), at = 0;
		void *library = dlopen(argv[3 + index], RTLD_NOW);
		int (*function)(int) = library ? (int (*)(int))dlsym(library, "reloads") : NULL;

		if (!function)
			return 1;
		while (at < count && known[at] != (void *)function)
			at++;
		if (at == count && count < 16)
			known[count++] = (void *)function;
		for (int call = 0; call < atoi(argv[2]); call++)
			function(index);
		if (dlclose(library))
			return 1;
	}
	printf("%d addresses\n", count);
	return 0;
}
