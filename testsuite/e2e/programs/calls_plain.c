/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plain calls of libwork, and calls that do not return. */
#include "calls.h"
#include "outer.h"
#include "work.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__attribute__((noinline)) int target_ping(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void ping(void)
{
	target_ping(number());
}

static void add(void)
{
	int a = number();

	say("add %d", work_add(a, number()));
}

static void square(void)
{
	say("square %d", work_square(number()));
}

static void many(void)
{
	int sum = 0, n = number();

	for (int i = 0; i < n; i++)
		sum += work_add(i, 1) - i;
	say("many %d", sum);
}

static void factorial(void)
{
	say("factorial %d", work_factorial(number()));
}

static void tail(void)
{
	say("tail %d", work_tail(number()));
}

static void hidden(void)
{
	say("hidden %d", work_hidden(number()));
}

static void ifunc(void)
{
	say("ifunc %d", work_ifunc(number()));
}

static void out(void)
{
	int a = number();

	say("outer %d", outer_add(a, number()));
}

static void out_ifunc(void)
{
	say("outer-ifunc %d", outer_ifunc(number()));
}

static void echo(void)
{
	say("echo %s", work_echo(next()));
}

static void raw(void)
{
	work_echo("tab\there\nbell\007 esc\033[1m quote\" back\\ high\377 end");
}

static void length(void)
{
	say("length %d", (int)strlen(next()));
}

static void nap(void)
{
	say("sleep %d", work_sleep(number()));
}

static void table_call(void)
{
	say("table %d", work_table_call(number()));
}

static void fill(void)
{
	work_fill();
	say("filled");
}

static void late_call(void)
{
	say("late %d", work_late_call(number()));
}

static void constructed(void)
{
	say("constructed %d %d", work_constructed, outer_constructed);
}

/* ---- calls that do not return, or return late ---- */

static jmp_buf jump_target;

static void call_jump(void *unused)
{
	(void)unused;
	work_add(1, 2);
	work_jump(jump_target, 5);
}

static void jump(void)
{
	static volatile int left, jumps;

	left = number();
	jumps = 0;
	while (left-- > 0) {
		if (setjmp(jump_target) == 0)
			work_call(call_jump, NULL);
		else
			jumps++;
	}
	say("jump %d", jumps);
}

static void call_add(void *unused)
{
	(void)unused;
	work_add(20, 22);
}

static void nested(void)
{
	work_call(call_add, NULL);
	say("nested");
}

static void call_pthread_exit(void *unused)
{
	(void)unused;
	pthread_exit((void *)7);
}

static void *exiting_thread(void *unused)
{
	work_call(call_pthread_exit, unused);
	return NULL;
}

static void thread_exit(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, exiting_thread, NULL);
	pthread_join(thread, &result);
	say("thread-exit %d", (int)(intptr_t)result);
}

static void *sleeping_thread(void *unused)
{
	(void)unused;
	work_sleep(1000000);
	return NULL;
}

static void thread_cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, sleeping_thread, NULL);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	say("thread-cancel %d", result == PTHREAD_CANCELED);
}

const struct verb plain_verbs[] = {
	{"ping", ping},
	{"add", add},
	{"square", square},
	{"many", many},
	{"factorial", factorial},
	{"tail", tail},
	{"hidden", hidden},
	{"ifunc", ifunc},
	{"outer", out},
	{"outer-ifunc", out_ifunc},
	{"echo", echo},
	{"raw", raw},
	{"length", length},
	{"sleep", nap},
	{"table", table_call},
	{"fill", fill},
	{"late", late_call},
	{"constructed", constructed},
	{"jump", jump},
	{"nested", nested},
	{"thread-exit", thread_exit},
	{"thread-cancel", thread_cancel},
	{0},
};
