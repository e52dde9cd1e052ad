/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loader LIBRARY: loads the library, calls it, unloads it, again and again, until a line says to stop. */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	long wrong = 0;

	puts("ready");
	fflush(stdout);
	while (argc > 1 && poll(&input, 1, 0) == 0) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		int (*leaf)(int) = library ? (int (*)(int))dlsym(library, "leaf_1") : NULL;

		if (!leaf || leaf(20) != leaf(20))
			wrong++;
		if (library)
			dlclose(library);
	}
	printf("wrong %ld\n", wrong);
	return 0;
}
