/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine [LIBRARY]: two threads that wait in frames of libmachine.c, which is a part of the program,
 * linked, or opened (OPENED). Prints their numbers. See script_frames.test.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifndef OPENED
extern unsigned machine_version;
void machine_call(const char *function, unsigned line, void (*code)(void));
#endif

static void (*call)(const char *function, unsigned line, void (*code)(void));

static void wait(void)
{
	printf("%d\n", (int)gettid());
	fflush(stdout);
	pause();
}

static void inner(void)
{
	call("inner", 20, wait);
}

static void *work(void *unused)
{
	call("outer", 10, inner);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

#ifdef OPENED
	void *library = dlopen(argv[1], RTLD_NOW);

	call = dlsym(library, "machine_call");
	*(unsigned *)dlsym(library, "machine_version") = 7;
#else
	call = machine_call;
	machine_version = 7;
#endif
	pthread_create(&thread, NULL, work, NULL);
	call("main", 30, wait);
	return argc;
}
