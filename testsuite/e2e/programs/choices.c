/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of which the value of one argument says what another one is, and whether there is one. */
#include <stdarg.h>

#define QUIET __attribute__((noipa))

static volatile int calls;

/* What is behind `what` is not looked at. */
QUIET int c_pick(int what, ...)
{
	calls++;
	return what;
}

QUIET int c_rest(int what, ...)
{
	calls += 2;
	return what;
}

QUIET int c_order(int what, ...)
{
	calls += 3;
	return what;
}

QUIET int c_two(int what, const void *one, const void *other, int last)
{
	(void)one, (void)other, (void)last;
	calls += 4;
	return what;
}

QUIET int c_bits(short what, ...)
{
	calls += 5;
	return what;
}

QUIET int c_with(int what, ...)
{
	calls += 6;
	return what;
}

QUIET int c_counted(int what, const void *bytes, int length)
{
	(void)bytes, (void)length;
	calls += 7;
	return what;
}

/* Fills what it gets, and forgets where it is. */
QUIET int c_fill(int what, void *place, int last)
{
	if (what == 1)
		*(int *)place = 77;
	else if (what == 2)
		*(const char **)place = "filled";
	else if (what == 3)
		*(long long *)place = 5000000000LL;
	what += last;
	last = calls++;
	return what;
}

/* Says how many bytes it has filled. */
QUIET int c_result(int what, char *place)
{
	for (int i = 0; what == 2 && i < 3; i++)
		place[i] = (char)('a' + i);
	calls++;
	return what == 2 ? 3 : what;
}

int main(void)
{
	static const char *text = "text";
	int number = 7;
	long long wide = 1;
	char buffer[8] = "before";

	c_pick(0, -5);
	c_pick(1, "text");
	c_pick(2, 4000000000UL);
	c_pick(7, &number);
	c_pick(8, 5000000000LL);
	c_pick(9, c_rest);
	c_pick(-1, &text);
	c_pick(3, 12345);
	c_pick(-2, 12345);
	c_pick(100, -6);
	c_pick(101, -7);
	c_pick(110, -8);
	c_pick(111, -9);
	c_rest(0, 16);
	c_rest(1, "one");
	c_rest(3, "three");
	c_rest(4, 17);
	c_rest(-1, -1);
	c_order(1, 1);
	c_order(3, 3);
	c_order(6, "six");
	c_order(8, 0x88);
	c_two(1, "one", (void *)3, 5);
	c_two(2, (void *)4, (void *)-6, 6);
	c_two(3, (void *)5, "other", 7);
	c_bits(1, "one bit");
	c_bits(4, 44);
	c_bits(5, 45);
	c_bits(-1, "minus one");
	c_with(1, 11, 12);
	c_with(2, "two", 13);
	c_with(4, "four", 14);
	c_counted(1, "counted", 4);
	c_counted(2, (void *)0x1234, 4);
	c_fill(1, &number, 0);
	c_fill(2, &text, 1);
	c_fill(3, &wide, 2);
	c_fill(4, (void *)-9, 3);
	c_fill(5, (void *)9, 4);
	c_fill(6, buffer, 5);
	c_result(1, (char *)8);
	c_result(2, buffer);
	c_result(3, buffer);
	return 0;
}
