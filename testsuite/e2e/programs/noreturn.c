/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noreturn: a function that does not come back is called last in another, so what it would return to is the beginning of
 * the next one. Built without optimization, which leaves nothing in between. It does that until stdin ends, and then says
 * how often a result was wrong.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

static jmp_buf back;
static void *volatile caller;

/* It looks at its return address, so it is caught by a breakpoint. */
__attribute__((noinline, noreturn)) void leave_now(int how)
{
	caller = __builtin_return_address(0);
	longjmp(back, how);
}

__attribute__((noinline, noreturn)) void leave_last(int how)
{
	leave_now(how + 1);
}

__attribute__((noinline)) int behind_it(int value)
{
	return value + 3;
}

static int round_of(int i)
{
	int how = setjmp(back);

	if (!how)
		leave_last(i);
	return how - 1 != i || behind_it(how) != i + 4 || (char *)caller != (char *)behind_it;
}

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	long wrong = 0;

	puts("ready");
	fflush(stdout);
	for (int i = 1; poll(&input, 1, 0) == 0; i = i % 1000 + 1)
		wrong += round_of(i);
	printf("wrong %ld\n", wrong);
	return 0;
}
