/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function that does not return, and one that does. */
#include <setjmp.h>

jmp_buf leave_to;

__attribute__((noinline, noreturn)) void leave_now(void)
{
	longjmp(leave_to, 1);
}

__attribute__((noinline)) int leave_answer(void)
{
	static volatile int answer = 5;

	return answer;
}
