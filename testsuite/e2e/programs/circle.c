/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that end in a jump to another one, which ends in a jump back, and once more what one longjmp() has left. */
#include <setjmp.h>

static volatile int sum;
static jmp_buf back;

__attribute__((noipa)) int circle_odd(int n);

__attribute__((noipa)) int circle_even(int n)
{
	sum++;
	return n == 0 ? 1 : circle_odd(n - 1);
}

__attribute__((noipa)) int circle_odd(int n)
{
	sum--;
	return n == 0 ? 0 : circle_even(n - 1);
}

__attribute__((noipa)) int circle_counts(int n, int count);

/* Nobody traces it. */
__attribute__((noipa)) static int pass_on(int n, int count)
{
	sum++;
	return circle_counts(n - 1, count + 1);
}

__attribute__((noipa)) int circle_counts(int n, int count)
{
	sum--;
	return n == 0 ? count : pass_on(n, count);
}

__attribute__((noipa)) int circle_left(int n)
{
	if (n)
		longjmp(back, 1);
	return 7;
}

int main(void)
{
	volatile int result = circle_counts(3, 10) + circle_even(5);
	volatile int left = 2;

	setjmp(back);
	result += circle_left(left--);
	return result == 13 + 0 + 7 ? 0 : 1;
}
