/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says "ready", waits for a line on stdin, and dies of a signal, of which there is a core dump, while
 * other threads call functions: `crash fault|raise|trap|thread|handled`. `crash survived` raises a signal
 * that does nothing to the first process of a pid namespace, calls after_signal() and ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 2 };

static atomic_ulong calls;

static void *busy(void *unused)
{
	char text[64];

	for (;;) {
		calls += strlen(strcpy(text, "hello"));
		calls += (unsigned long)atoi("12");
	}
	return unused;
}

static void fault(void)
{
	*(volatile int *)8 = 1;
}

static void *fault_in_a_thread(void *unused)
{
	fault();
	return unused;
}

/* A handler that leaves the signal to the default action, as those do that report crashes. */
static void on_fault(int number)
{
	signal(number, SIG_DFL);
}

__attribute__((noinline)) void after_signal(int n)
{
	__asm__ volatile("" : "+r"(n));
}

static void survive(void)
{
	for (int i = 0; i < 10; i++) {
		kill(getpid(), SIGQUIT);
		after_signal(i);
	}
}

/* Here and not around the tracer: with AddressSanitizer that one wants none, for its command neither. */
static void allow_core_dump(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	char c;

	allow_core_dump();
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
	if (!strcmp(how, "survived")) {
		survive();
		return 0;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, busy, NULL);
	while (calls < 1000)
		usleep(1000);
	if (!strcmp(how, "raise"))
		abort();
	if (!strcmp(how, "trap"))
		raise(SIGTRAP);
	if (!strcmp(how, "handled"))
		signal(SIGSEGV, on_fault);
	if (!strcmp(how, "thread") && pthread_create(&thread, NULL, fault_in_a_thread, NULL) == 0)
		pthread_join(thread, NULL);
	fault();
	return 1;
}
