// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls in calls, in several threads and in a forked child; one that is left by longjmp; many; and one before a wait. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int o_outer(int number);
int o_middle(int number);
int o_inner(int number, const char *text);
int o_jump(int number);
int o_fails(int number);
int o_fork(int number);
double o_half(double number);
long o_long(long number);

#define KEEP(value) __asm__ volatile("" : : "m"(value) : "memory")

static jmp_buf back;
static int returned[2];

__attribute__((noinline)) int o_inner(int number, const char *text)
{
	KEEP(text);
	return number + 1;
}

__attribute__((noinline)) int o_middle(int number)
{
	const int one = o_inner(number, "first");

	return one + o_inner(number, "\xff\x80 \"\\\x01 \xc4\xab");
}

__attribute__((noinline)) int o_outer(int number)
{
	return o_middle(number) + o_middle(number + 1);
}

__attribute__((noinline)) int o_jump(int number)
{
	KEEP(number);
	longjmp(back, 1);
}

__attribute__((noinline)) int o_fails(int number)
{
	KEEP(number);
	return -number;
}

__attribute__((noinline)) double o_half(double number)
{
	KEEP(number);
	return number / 2;
}

__attribute__((noinline)) long o_long(long number)
{
	KEEP(number);
	return number;
}

__attribute__((noinline)) int o_fork(int number)
{
	char byte;
	const pid_t pid = fork();

	KEEP(number);
	if (!pid)
		o_inner(7, "child");
	else if (read(returned[0], &byte, 1) != 1) /* the child returns first */
		return -1;
	return pid != 0;
}

static void *run(void *argument)
{
	o_outer((int)(long)argument);
	return NULL;
}

static void threads(void)
{
	pthread_t started[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&started[i], NULL, run, (void *)(100 * (i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(started[i], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char line[16];

	if (!strcmp(what, "many")) {
		for (int i = 0; i < atoi(argv[2]); i++)
			o_fails(i);
		puts("all done");
		return 0;
	}
	if (!strcmp(what, "wait")) {
		o_fails(5);
		puts("waits");
		fflush(stdout);
		return fgets(line, sizeof line, stdin) ? 0 : 1;
	}
	if (!strcmp(what, "fork")) {
		if (pipe(returned))
			return 1;
		if (!o_fork(1))
			return write(returned[1], "x", 1) != 1;
		wait(NULL);
		return 0;
	}
	o_outer(1);
	threads();
	if (!setjmp(back))
		o_jump(3);
	o_fails(2);
	o_half(3);
	o_half(-1 / 0.0 * (argc + 0.0));
	o_long(-9007199254740993L);
	return 4;
}
