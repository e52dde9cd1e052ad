/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alike [WAIT]: threads made by clone(2) itself, without a thread pointer of their own: they have that of the one that has
 * made them. Each calls a function 1,000 times. With an argument they wait for a line on stdin before that.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 1000, STACK = 1 << 20 };

static atomic_int go, done;
static volatile int sum[THREADS];

__attribute__((noipa)) void alike_call(int thread, int number)
{
	sum[thread] += number;
}

/* Nothing in here may use thread-local storage. */
static int work(void *argument)
{
	const int thread = (int)(long)argument;

	while (!go)
		__builtin_ia32_pause();
	for (int i = 0; i < CALLS; i++)
		alike_call(thread, i);
	done++;
	for (;;) /* without atexit() */
		__asm__ volatile("syscall" : : "a"((long)SYS_exit), "D"(0L) : "rcx", "r11", "memory");
}

int main(int argc, char **argv)
{
	(void)argv;
	for (long i = 0; i < THREADS; i++) {
		char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (stack == MAP_FAILED ||
		    clone(work, stack + STACK,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, (void *)i) < 0)
			return 2;
	}
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	go = 1;
	while (done < THREADS)
		usleep(1000);
	for (int i = 0; i < THREADS; i++)
		if (sum[i] != CALLS * (CALLS - 1) / 2)
			return 1;
	return 0;
}
