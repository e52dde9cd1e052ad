/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls whose times are known: usage: durations WORD...
 *	nap US		nap(US), which takes so long or longer; prints both, in ns, as the caller has measured it
 *	ticks N		N calls of tick(), which does nothing
 *	threads N M	N threads at the same time, with M calls of tick() each
 *	children N M	N children, one after the other, with M calls of tick() each
 *	many		many_I() is called I + 1 times, for each I below 100
 *	exit		calls exit()
 *	clock		prints the time since the Epoch, in ns
 *	serve		(alone) says "ready", does the words of each line of stdin, and says "done"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

/* Long enough for an entry jump, and not inlined. */
#define TRACED __attribute__((noinline))

TRACED long tick(long x);
TRACED void nap(long us);

TRACED long tick(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

static int64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

TRACED void nap(long us)
{
	struct timespec left = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0)
		continue;
}

#define MANY_OF_TEN(F, n)                                                                          \
	F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define MANY(F)                                                                                    \
	MANY_OF_TEN(F, ) MANY_OF_TEN(F, 1) MANY_OF_TEN(F, 2) MANY_OF_TEN(F, 3) MANY_OF_TEN(F, 4)   \
	MANY_OF_TEN(F, 5) MANY_OF_TEN(F, 6) MANY_OF_TEN(F, 7) MANY_OF_TEN(F, 8) MANY_OF_TEN(F, 9)

#define DEFINE(n)                                                                                  \
	TRACED long many_##n(long x);                                                              \
	TRACED long many_##n(long x)                                                               \
	{                                                                                          \
		__asm__ volatile("" : "+r"(x));                                                    \
		return x * 3 + n;                                                                  \
	}
#define NAME(n) many_##n,

MANY(DEFINE)
static long (*const many[])(long) = {MANY(NAME)};

static void *tick_often(void *argument)
{
	const long *calls = argument;

	for (long i = 0; i < *calls; i++)
		tick(i);
	return NULL;
}

static void run_threads(long count, long calls)
{
	pthread_t threads[THREADS_MAX];

	for (long i = 0; i < count && i < THREADS_MAX; i++)
		if (pthread_create(&threads[i], NULL, tick_often, &calls))
			exit(1);
	for (long i = 0; i < count && i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
}

static void run_children(long count, long calls)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			tick_often(&calls);
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void run(char **words)
{
	for (; *words; words++) {
		if (!strcmp(*words, "nap")) {
			const long us = atol(*++words);
			const int64_t start = now(CLOCK_MONOTONIC);

			nap(us);
			printf("%ld %lld\n", us * 1000, (long long)(now(CLOCK_MONOTONIC) - start));
		} else if (!strcmp(*words, "ticks")) {
			long calls = atol(*++words);

			tick_often(&calls);
		} else if (!strcmp(*words, "threads")) {
			run_threads(atol(words[1]), atol(words[2]));
			words += 2;
		} else if (!strcmp(*words, "children")) {
			fflush(stdout);
			run_children(atol(words[1]), atol(words[2]));
			words += 2;
		} else if (!strcmp(*words, "many")) {
			for (size_t i = 0; i < sizeof many / sizeof *many; i++)
				for (size_t k = 0; k <= i; k++)
					many[i]((long)k);
		} else if (!strcmp(*words, "clock")) {
			printf("%lld\n", (long long)now(CLOCK_REALTIME));
		} else if (!strcmp(*words, "exit")) {
			exit(0);
		} else {
			exit(2);
		}
	}
}

/* Does the words of each line, and says "done". */
static void serve(void)
{
	char line[4096];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		char *words[256], *rest = line;
		size_t count = 0;

		while (count < 255 && (words[count] = strtok_r(rest, " \n", &rest)))
			count++;
		words[count] = NULL;
		run(words);
		puts("done");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve"))
		serve();
	else
		run(argv + 1);
	return 0;
}
