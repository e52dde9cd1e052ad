/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage: textrel LIBRARY. Loads libtextrel and calls its functions three times. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (!library)
		return 1;
	int (*get)(void) = (int (*)(void))dlsym(library, "textrel_get");
	int (*call)(const char *) = (int (*)(const char *))dlsym(library, "textrel_call");

	for (int i = 0; i < 3; i++)
		printf("%d %d\n", get(), call("8"));
	return 0;
}
