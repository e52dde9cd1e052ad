/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm THREADS [RATE]: so many threads that call the functions of libcounted all the time and check each
 * result; with RATE, one more that makes so many threads a second, which do the same once. What a tracer
 * could disturb is set up beforehand: handlers, ignored, blocked and pending signals, an alternate stack.
 * Nothing is allocated once "ready" is said, so all of /proc/PID/maps stays as it is.
 *
 * Lines on stdin, each answered with "done": "ping N"; "progress", when each thread has got on; "quiet",
 * when no short-lived thread is left; "loud", there are some again; "stop" says what came of it, and ends.
 */
#include "counted.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, AT_ONCE = 2, STACK = 65536 };

struct worker {
	pthread_t thread;
	int index;
	atomic_ulong rounds;
	unsigned long made, expected; /* checksums */
};

static struct worker workers[THREADS_MAX];
static int worker_count;
static atomic_bool stop, quiet, is_quiet;
static atomic_long wrong, bred;
static char alternate_stack[STACK];
static int rate;

static void wrong_if(bool condition)
{
	if (condition)
		atomic_fetch_add(&wrong, 1);
}

/* All functions once. What the library notes of its inner calls tells whether each body ran once. */
static void call_all(struct worker *worker, int a)
{
	struct inner_calls before = inner_calls;

	for (int which = 0; which < FUNCTIONS; which++) {
		long expected;
		long result = counted_call(which, a, &expected);

		wrong_if(result != expected);
		worker->made = worker->made * 31 + (unsigned long)result;
		worker->expected = worker->expected * 31 + (unsigned long)expected;
	}
	for (int n = 0; n < NUMBERS; n++)
		wrong_if(inner_calls.leaf[n] != before.leaf[n] + 1 ||
			 inner_calls.global[n] != before.global[n] + 1 ||
			 inner_calls.recursive[n] != before.recursive[n] + (a & 3));
}

static void block(int signal_number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal_number);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	block(SIGRTMIN + 4 + worker->index % 8); /* a mask of its own */
	while (!atomic_load(&stop)) {
		call_all(worker, (int)(atomic_load(&worker->rounds) & 0xfff));
		atomic_fetch_add(&worker->rounds, 1);
	}
	return NULL;
}

/* ---- threads that come and go ---- */

static void *live_once(void *argument)
{
	struct worker worker = {.index = 0};

	call_all(&worker, (int)(long)argument & 0xfff);
	wrong_if(worker.made != worker.expected);
	return argument;
}

static void make_some(const pthread_attr_t *attributes)
{
	pthread_t thread[AT_ONCE];
	void *result;

	for (long i = 0; i < AT_ONCE; i++)
		if (pthread_create(&thread[i], attributes, live_once, (void *)i))
			_exit(95);
	for (long i = 0; i < AT_ONCE; i++) {
		wrong_if(pthread_join(thread[i], &result) || result != (void *)i);
		atomic_fetch_add(&bred, 1);
	}
}

static void *breed(void *argument)
{
	struct timespec next;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_setname_np(pthread_self(), "breeder");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!atomic_load(&stop)) {
		bool rest = atomic_load(&quiet);

		if (!rest)
			make_some(&attributes);
		atomic_store(&is_quiet, rest);
		next.tv_nsec += 1000000000L / rate * AT_ONCE;
		if (next.tv_nsec >= 1000000000L) {
			next.tv_nsec -= 1000000000L;
			next.tv_sec++;
		}
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
			;
	}
	return argument;
}

/* ---- being asked ---- */

static void pause_a_moment(void)
{
	struct timespec moment = {0, 1000000};

	nanosleep(&moment, NULL);
}

static void progress(void)
{
	unsigned long before[THREADS_MAX];
	long children = atomic_load(&bred);

	for (int i = 0; i < worker_count; i++)
		before[i] = atomic_load(&workers[i].rounds);
	for (int i = 0; i < worker_count; i++)
		while (atomic_load(&workers[i].rounds) < before[i] + 3)
			pause_a_moment();
	while (rate && !atomic_load(&quiet) && atomic_load(&bred) < children + 3)
		pause_a_moment();
}

static void be_quiet(bool rest)
{
	atomic_store(&quiet, rest);
	while (rate && atomic_load(&is_quiet) != rest)
		pause_a_moment();
}

static void obey(const char *line)
{
	if (!strncmp(line, "ping ", 5))
		target_ping(atoi(line + 5));
	else if (!strcmp(line, "progress\n"))
		progress();
	else if (!strcmp(line, "quiet\n"))
		be_quiet(true);
	else if (!strcmp(line, "loud\n"))
		be_quiet(false);
	else
		exit(94);
	puts("done");
	fflush(stdout);
}

static void handler(int signal_number)
{
	(void)signal_number;
	wrong_if(true); /* nobody sends these */
}

static void set_up_signals(void)
{
	stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
	struct sigaction on_stack = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &on_stack, NULL);
	sigaction(SIGRTMIN + 2, &on_stack, NULL);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	block(SIGRTMIN + 3);
	kill(getpid(), SIGRTMIN + 3); /* stays pending: all threads inherit the mask */
	block(SIGURG);
	raise(SIGURG);
}

int main(int argc, char **argv)
{
	static char line[128], input[4096], output[4096];
	pthread_t breeder;
	unsigned long rounds = 0;

	worker_count = argc > 1 ? atoi(argv[1]) : 4;
	rate = argc > 2 ? atoi(argv[2]) : 0;
	if (worker_count > THREADS_MAX)
		return 2;
	setvbuf(stdin, input, _IOFBF, sizeof input);
	setvbuf(stdout, output, _IOFBF, sizeof output);
	set_up_signals();
	for (int i = 0; i < worker_count; i++) {
		workers[i].index = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 3;
	}
	if (rate && pthread_create(&breeder, NULL, breed, NULL))
		return 3;
	progress();
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && strcmp(line, "stop\n"))
		obey(line);
	atomic_store(&stop, true);
	for (int i = 0; i < worker_count; i++) {
		pthread_join(workers[i].thread, NULL);
		wrong_if(workers[i].made != workers[i].expected);
		rounds += workers[i].rounds;
	}
	if (rate)
		pthread_join(breeder, NULL);
	printf("rounds %lu bred %ld wrong %ld\n", rounds, atomic_load(&bred), atomic_load(&wrong));
	return wrong != 0;
}
