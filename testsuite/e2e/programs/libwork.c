/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "work.h"

#include <stdlib.h>
#include <time.h>

int work_constructed;

__attribute__((noinline)) int work_add(int a, int b)
{
	return a + b;
}

__attribute__((noinline)) int work_square(int a)
{
	return a * a;
}

__attribute__((noinline)) int work_factorial(int n)
{
	int less = n < 2 ? 1 : work_factorial(n - 1);

	__asm__ volatile("" : "+r"(less)); /* a real call, no loop */
	return n < 2 ? 1 : n * less;
}

__attribute__((visibility("hidden"), noinline)) int work_tail_end(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int work_tail(int n)
{
	__asm__ volatile("" : "+r"(n));
	return work_tail_end(n);
}

static __attribute__((noinline)) int work_local(int n)
{
	__asm__ volatile("" : "+r"(n));
	return 3 * n;
}

int work_hidden(int n)
{
	static work_function *volatile local = work_local; /* called by the ABI's convention */
	int result = local(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}

static int ifunc_implementation(int n)
{
	return n + 100;
}

static work_function *ifunc_resolver(void)
{
	return ifunc_implementation;
}

int work_ifunc(int n) __attribute__((ifunc("ifunc_resolver")));

__attribute__((noinline)) int work_init(int n)
{
	work_constructed = n;
	__asm__ volatile("" ::: "memory");
	return n;
}

static __attribute__((constructor)) void construct(void)
{
	work_init(77);
}

int work_sleep(int milliseconds)
{
	struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

	while (nanosleep(&left, &left) != 0)
		;
	return milliseconds;
}

const char *work_echo(const char *text)
{
	return text;
}

void work_call(void (*callback)(void *), void *argument)
{
	callback(argument);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

void work_jump(jmp_buf where, int value)
{
	longjmp(where, value);
}

static __attribute__((noinline)) int five_times(int n)
{
	__asm__ volatile("" : "+r"(n));
	return 5 * n;
}

static __attribute__((noinline)) int seven_times(int n)
{
	__asm__ volatile("" : "+r"(n));
	return 7 * n;
}

struct work_table work_table = {0, five_times};
struct work_table work_late_table;

int work_table_call(int n)
{
	int result = work_table.function(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}

void work_fill(void)
{
	work_late_table.function = seven_times;
}

int work_late_call(int n)
{
	int result = work_late_table.function(n);

	__asm__ volatile("" : "+r"(result));
	return result;
}
