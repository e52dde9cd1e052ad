/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop calls functions from one place, and exceptions leave some of the calls: the next call looks
 * like a tail call from the one that was left. "by way" makes real tail calls.
 */
#include <cstdio>
#include <stdexcept>

extern "C" {
__attribute__((noinline)) long handler_end(long n)
{
	__asm__ volatile("");
	return n + 100;
}

/* The compiler may put the exception into a part of its own (.text.unlikely). */
__attribute__((noinline)) long handler_throws(long n)
{
	if (n >= 0)
		throw std::runtime_error("handler");
	return 1;
}

__attribute__((noinline)) long handler_adds(long n)
{
	__asm__ volatile("");
	return n + 1000;
}
}

/* Something to clean up: a landing pad. */
struct counter {
	volatile long *count;
	~counter() { ++*count; }
};

static volatile long cleaned;

extern "C" __attribute__((noinline)) long handler_cleans(long n)
{
	counter here{&cleaned};

	return handler_throws(n);
}

extern "C" __attribute__((noinline)) long handler_by_way(long n)
{
	if (n < 0)
		throw std::runtime_error("by way");
	return handler_end(n);
}

int main()
{
	long (*volatile handlers[])(long) = {handler_throws, handler_adds, handler_cleans, handler_adds, handler_by_way};
	long sum = 0, thrown = 0;

	for (volatile long i = 0; i < 50; i++) {
		try {
			sum += handlers[i % 5](i);
		} catch (const std::exception &) {
			thrown++;
		}
	}
	std::printf("%ld %ld %ld\n", sum, thrown, cleaned);
	return 0;
}
