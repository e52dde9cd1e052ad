/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `dies fault|raise|trap|thread`: says "ready", waits for a line on stdin, and dies of a signal, of
 * which there is a core dump, while one thread computes and one waits for a lock. With "thread", it
 * is another thread that dies, and the main thread waits for it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long computed;

static void *compute(void *argument)
{
	for (;;)
		computed++;
	return argument;
}

static void *wait_for_lock(void *argument)
{
	pthread_mutex_lock(&lock);
	computed++;
	return argument;
}

/* Nothing is inlined, and each function is still there when it has called the next. */
__attribute__((noinline)) static void store(volatile int *place)
{
	*place = 1;
	computed++;
}

__attribute__((noinline)) static void die(const char *how)
{
	if (!strcmp(how, "raise"))
		abort();
	if (!strcmp(how, "trap"))
		raise(SIGTRAP);
	store((int *)8);
	computed++;
}

static void *serve(void *how)
{
	char line[16];

	if (fgets(line, sizeof line, stdin))
		die(how);
	computed++;
	return how;
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
	char *how = argc > 1 ? argv[1] : "fault";
	pthread_t thread;

	allow_core_dump();
	pthread_mutex_lock(&lock);
	if (pthread_create(&thread, NULL, compute, NULL) ||
	    pthread_create(&thread, NULL, wait_for_lock, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	if (strcmp(how, "thread") != 0)
		serve(how);
	else if (pthread_create(&thread, NULL, serve, how) == 0)
		pthread_join(thread, NULL);
	return 1;
}
