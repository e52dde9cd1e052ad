/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of one function from one place in turns: one with a long text, which an exception leaves,
 * and one with a short text, which returns.
 */
#include <cstring>

extern "C" __attribute__((noinline)) long lt_throw(long number, const char *text)
{
	__asm__ volatile("" : "+r"(number) : : "memory");
	if (std::strlen(text) > 1000)
		throw number;
	return number + 1000;
}

int main()
{
	static char text[6000];
	long sum = 0;

	std::memset(text, 't', sizeof text - 1);
	for (long i = 0; i < 40; i++)
		try {
			sum += lt_throw(i, i % 2 ? "short" : text);
		} catch (long number) {
			sum -= number;
		}
	return sum == 0;
}
