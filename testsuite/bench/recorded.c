/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: recorded CALLS FILE [THREADS]
 * Makes so many calls, and writes "nanoseconds stops" of them to FILE (stops are not counted: 0). One thread: of one function with three
 * numbers. Several: of six functions, as a program might make them: with texts that repeat now and then, buffers, and numbers that do not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 16, TEXTS = 64 };

/* The empty statement keeps a compiler from doing without the call. */
#define TRACED __attribute__((noinline, used))
#define IS_CALLED() __asm__ volatile("" : : : "memory")

TRACED long rec_three(long a, const char *b, int c)
{
	IS_CALLED();
	return a + c + (b != NULL);
}

TRACED int rec_open(const char *path, int flags)
{
	IS_CALLED();
	return path[0] + flags;
}

TRACED long rec_read(int fd, char *buffer, size_t length)
{
	IS_CALLED();
	return (long)(length / 2 + (size_t)fd) + (buffer != NULL);
}

TRACED void *rec_alloc(size_t size)
{
	static char memory[1 << 16];

	IS_CALLED();
	return memory + size % sizeof(memory);
}

TRACED void rec_free(void *place)
{
	(void)place;
	IS_CALLED();
}

TRACED int rec_query(void *connection, const char *text)
{
	IS_CALLED();
	return connection != NULL && text[0];
}

TRACED double rec_ratio(double a, double b)
{
	IS_CALLED();
	return a / b;
}

struct work {
	long calls;
	unsigned seed;
};

static void *realistic(void *argument)
{
	struct work *work = argument;
	char buffer[64], text[TEXTS][64];

	for (int i = 0; i < TEXTS; i++)
		snprintf(text[i], sizeof(text[i]), "SELECT name, city FROM customer WHERE id = %d", i * 997);
	for (long i = 0; i < work->calls; i += 6) {
		unsigned random = (unsigned)rand_r(&work->seed);
		int fd = rec_open(text[random % TEXTS] + 7, (int)(random % 5));

		rec_read(fd, buffer, random % 4096);
		void *place = rec_alloc(random % 10007);

		rec_query(buffer, text[random / 64 % TEXTS]);
		rec_ratio(random, 3.0);
		rec_free(place);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	struct work work[THREADS_MAX];
	struct timespec begin, end;
	long calls = argc > 2 ? atol(argv[1]) : 0;
	int count = argc > 3 ? atoi(argv[3]) : 1;

	if (calls < 1 || count < 1 || count > THREADS_MAX)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (count == 1)
		for (long i = 0; i < calls; i++)
			rec_three(i, argv[0], (int)(i % 100));
	for (int i = 0; count > 1 && i < count; i++) {
		work[i] = (struct work){.calls = calls / count, .seed = (unsigned)i};
		if (pthread_create(&threads[i], NULL, realistic, &work[i]))
			return 1;
	}
	for (int i = 0; count > 1 && i < count; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	FILE *result = fopen(argv[2], "w");

	if (!result)
		return 1;
	fprintf(result, "%lld 0\n", (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec);
	return fclose(result) != 0;
}
