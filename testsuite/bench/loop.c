/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: loop CALLS FILE [THREADS [BURST [PAUSE [wait]]]]
 * Calls tiny() through the PLT so many times, in each thread, and writes "nanoseconds stops" of the loop alone to
 * FILE: those of the longest, and of all. With BURST the calls are of tiny_text(), with a pause of PAUSE us after so many of them, which
 * is not counted, nor are the stops in it. A ptrace stop is a voluntary context switch of the thread that stops, and the
 * loop makes no other: so the kernel itself counts the stops. With "wait" it says "ready" and begins when its standard
 * input ends, to be attached to meanwhile.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

long tiny(long x);
long tiny_text(const char *text, long length, long x);

struct loop {
	long calls, stops, result, burst, pause;
	long long time;
	pthread_barrier_t *ready;
};

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void run_bursts(struct loop *loop)
{
	static const char text[] = "SELECT name FROM person";
	long x = 1;

	for (long done = 0; done < loop->calls; done += loop->burst) {
		nanosleep(&(struct timespec){.tv_nsec = loop->pause * 1000}, NULL);
		long stops = switches();
		long long start = now();

		for (long i = 0; i < loop->burst; i++)
			x = tiny_text(text, (long)sizeof text - 1, x);
		loop->time += now() - start;
		loop->stops += switches() - stops;
	}
	loop->result = x;
}

/* Calls now and then: a tracer may find out only so what it has to put where. */
static void await_start(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 1) == 0)
		tiny(tiny_text("", 0, 0));
}

static void *run(void *argument)
{
	struct loop *loop = argument;

	pthread_barrier_wait(loop->ready);
	if (loop->burst) {
		run_bursts(loop);
		return NULL;
	}
	long x = 1;
	long stops = switches();
	long long start = now();

	for (long i = 0; i < loop->calls; i++)
		x = tiny(x);
	loop->time = now() - start;
	loop->stops = switches() - stops;
	loop->result = x;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct loop loops[THREADS_MAX];
	static pthread_t threads[THREADS_MAX];
	int count = argc > 3 ? atoi(argv[3]) : 1;
	pthread_barrier_t ready;
	struct loop all = {0};

	if (argc < 3 || count < 1 || count > THREADS_MAX)
		return 2;
	FILE *result = fopen(argv[2], "w");

	if (!result || tiny(0) != 1 || tiny_text("", 0, 0) != 1) /* bound before the clock runs */
		return 1;
	pthread_barrier_init(&ready, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		loops[i] = (struct loop){
			.calls = atol(argv[1]), .burst = argc > 4 ? atol(argv[4]) : 0,
			.pause = argc > 5 ? atol(argv[5]) : 0, .ready = &ready};
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &loops[i]))
			return 1;
	if (argc > 6)
		await_start();
	run(&loops[0]);
	for (int i = 0; i < count; i++) {
		if (i)
			pthread_join(threads[i], NULL);
		all.time = loops[i].time > all.time ? loops[i].time : all.time;
		all.stops += loops[i].stops;
		all.result |= loops[i].result != loops[i].calls + 1;
	}
	fprintf(result, "%lld %ld\n", all.time, all.stops);
	return fclose(result) || all.result;
}
