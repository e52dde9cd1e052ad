/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Masks and dispositions as the program sees them: those of threads with different masks, inherited by
 * threads and children, in handlers, after calls of traced functions, and as /proc tells them.
 */
#include "sig.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4 };

static pthread_barrier_t barrier;

static uint64_t mask_now(void)
{
	sigset_t set;
	uint64_t bits = 0;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	for (int number = 1; number < 65; number++)
		if (sigismember(&set, number) == 1)
			bits |= UINT64_C(1) << (number - 1);
	return bits;
}

static uint64_t proc_bits(const char *name)
{
	char path[64], line[256];
	unsigned long long bits = 0;

	snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)own_tid());
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			sscanf(line + strlen(name) + 1, "%llx", &bits);
	if (file)
		fclose(file);
	return bits;
}

/* The bit of SIGTRAP is left out: a tracer has a handler of its own there. */
static uint64_t caught(void)
{
	return proc_bits("SigCgt") & ~(UINT64_C(1) << (SIGTRAP - 1));
}

struct seen {
	uint64_t mask, blocked, inherited, in_handler, after;
};

static _Thread_local uint64_t handler_mask;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)info;
	check_pc(context);
	call_outer(number);
	handler_mask = mask_now();
}

static void *inheriting(void *result)
{
	work(1);
	*(uint64_t *)result = mask_now();
	return NULL;
}

static void *masked(void *argument)
{
	struct seen *seen = argument;
	int number = (int)seen->mask; /* the thread's */
	sigset_t set;
	pthread_t thread;

	sigemptyset(&set);
	for (int i = 1; i < 32; i++)
		if (i % THREADS == number && i != SIGUSR2)
			sigaddset(&set, i);
	for (int i = 34; i < 64; i += number + 1)
		sigaddset(&set, i);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	pthread_barrier_wait(&barrier);
	work(20);
	seen->mask = mask_now();
	seen->blocked = proc_bits("SigBlk");
	pthread_create(&thread, NULL, inheriting, &seen->inherited);
	pthread_join(thread, NULL);
	raise(SIGUSR2);
	seen->in_handler = handler_mask;
	work(5);
	seen->after = mask_now();
	return NULL;
}

static void masks(const struct arguments *arguments)
{
	struct seen seen[THREADS];
	pthread_t threads[THREADS];
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGTRAP);
	handle(SIGUSR2, on_signal, 0, &mask);
	signal(SIGHUP, SIG_IGN);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int round = 0; round < arguments->number[0]; round++) {
		for (int i = 0; i < THREADS; i++) {
			seen[i].mask = (uint64_t)i;
			pthread_create(&threads[i], NULL, masked, &seen[i]);
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < THREADS; i++)
			printf("thread %d: mask %llx, in /proc %llx, inherited %llx, in a handler %llx, after %llx\n", i,
			       (unsigned long long)seen[i].mask, (unsigned long long)seen[i].blocked,
			       (unsigned long long)seen[i].inherited, (unsigned long long)seen[i].in_handler,
			       (unsigned long long)seen[i].after);
		printf("ignored %llx, caught %llx\n", (unsigned long long)proc_bits("SigIgn"),
		       (unsigned long long)caught());
	}
	fflush(stdout);
	pid_t child = fork();

	if (!child) {
		printf("child: mask %llx, ignored %llx, caught %llx\n", (unsigned long long)mask_now(),
		       (unsigned long long)proc_bits("SigIgn"), (unsigned long long)caught());
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

const struct verb mask_verbs[] = {{"masks", masks}, {0}};
