/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the libraries that are its arguments, one after the other, and then has the first one call: late_caller.c. So
 * does a child, which is forked when that one has been opened.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *open_library(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);

	if (!library) {
		puts(dlerror());
		_exit(1);
	}
	return library;
}

int main(int argc, char **argv)
{
	int (*run)(void) = (int (*)(void))dlsym(open_library(argv[1]), "late_run");
	pid_t child = fork();

	for (int i = 2; i < argc; i++)
		open_library(argv[i]);
	if (!child)
		_exit(run() != 505);
	wait(NULL);
	printf("%d %d\n", run(), run());
	return 0;
}
