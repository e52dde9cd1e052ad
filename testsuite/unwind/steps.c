/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions in all the ways in which frames differ, between two breakpoint instructions:
 * testsuite/unit/test_unwind_steps.c steps through it and walks its stack at each instruction.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define MARK() __asm__ volatile("int3" ::: "memory")

volatile int sink;
static jmp_buf away;

APART int leaf(int x)
{
	return x * 3 + 1;
}

APART int saves(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int x = leaf(a), y = leaf(b + x), z = leaf(c + y);

	return leaf(d + e * x + f * y + g * z) + h + x + y + z;
}

APART int grows(int n)
{
	char *bytes = alloca((size_t)n + 1);

	memset(bytes, n, (size_t)n);
	return leaf(bytes[n / 2]) + bytes[n - 1];
}

/* Its locals are aligned beyond the stack's alignment, and some have no fixed place. */
APART int aligned(int n)
{
	_Alignas(64) char fixed[64];
	char *bytes = alloca((size_t)n + 1);

	memset(fixed, n, sizeof fixed);
	memset(bytes, n + 1, (size_t)n);
	sink = fixed[n % 64] + (int)((uintptr_t)fixed % 64);
	return leaf(bytes[n / 2] + fixed[3]) + saves(1, 2, 3, 4, 5, 6, 7, n);
}

APART int variadic(int n, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += leaf(va_arg(list, int));
	va_end(list);
	return sum;
}

APART int tail(int n)
{
	return n ? saves(n, n, n, n, n, n, n, n) : leaf(n);
}

APART int recurses(int n)
{
	return n ? recurses(n - 1) + leaf(n) : 1;
}

static int compares(const void *left, const void *right)
{
	return leaf(*(const int *)left) - leaf(*(const int *)right);
}

APART int calls_back(void)
{
	int numbers[] = {3, 1, 2};

	qsort(numbers, 3, sizeof *numbers, compares);
	return numbers[0];
}

APART void jumps(void)
{
	longjmp(away, leaf(1));
}

APART int jumps_away(void)
{
	if (!setjmp(away))
		jumps();
	return leaf(2);
}

/*
 * The vDSO makes a system call for this clock. For others it reads the kernel's time, and repeats
 * that at each tick: steps might never get through it.
 */
APART int library(void)
{
	char text[64];
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	snprintf(text, sizeof text, "%d %s", now.tv_nsec > 0, "x");
	return (int)strtol(text, NULL, 10) + (int)strlen(text);
}

APART int splits(int n)
{
	if (__builtin_expect(n > 1000, 0))
		abort();
	return leaf(n);
}

static void handles(int number)
{
	sink = leaf(number);
}

static void handles_with_context(int number, siginfo_t *info, void *context)
{
	sink = leaf(number) + (info != NULL) + (context != NULL);
}

APART int signals(int number, int flags)
{
	struct sigaction action = {.sa_flags = flags};

	if (flags & SA_SIGINFO)
		action.sa_sigaction = handles_with_context;
	else
		action.sa_handler = handles;
	sigaction(number, &action, NULL);
	raise(number);
	return sink;
}

#ifdef HAS_CODE
int code_all(int n);
#else
static int code_all(int n)
{
	return n;
}
#endif

int main(void)
{
	static char memory[1 << 16];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	int sum = 0;

	sigaltstack(&stack, NULL);
	MARK();
	sum += saves(1, 2, 3, 4, 5, 6, 7, 8);
	sum += grows(40);
	sum += aligned(33);
	sum += variadic(3, 1, 2, 3);
	sum += tail(0) + tail(1);
	sum += recurses(5);
	sum += calls_back();
	sum += jumps_away();
	sum += library();
	sum += splits(7);
	sum += signals(SIGUSR1, 0);
	sum += signals(SIGUSR1, SA_SIGINFO);
	sum += signals(SIGUSR2, SA_ONSTACK | SA_SIGINFO);
	sum += code_all(1);
	MARK();
	return sum == 0;
}
