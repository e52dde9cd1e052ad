/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted.h"

__thread struct inner_calls inner_calls;
int shared_words[5] = {11, 13, 17, 19, 23};

#define KEEP(value) __asm__ volatile("" : "+r"(value))

#define DEFINE(n)                                                                                  \
	int leaf_##n(int a)                                                                        \
	{                                                                                          \
		return a * 3 + n;                                                                  \
	}                                                                                          \
	int global_##n(int a)                                                                      \
	{                                                                                          \
		return shared_words[n] ^ a;                                                        \
	}                                                                                          \
	int many_##n(int a, int b, int c, int d, int e, int f, int g, int h)                       \
	{                                                                                          \
		return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + n;              \
	}                                                                                          \
	double floating_##n(double a, int b)                                                       \
	{                                                                                          \
		return a * 2 + b + n;                                                              \
	}                                                                                          \
	struct triple wide_##n(long a, long b)                                                     \
	{                                                                                          \
		return (struct triple){a, b, a + b + n};                                           \
	}                                                                                          \
	int text_##n(const char *text)                                                             \
	{                                                                                          \
		int sum = n;                                                                       \
                                                                                                   \
		while (*text)                                                                      \
			sum += *text++;                                                            \
		return sum;                                                                        \
	}                                                                                          \
	int nested_##n(int a)                                                                      \
	{                                                                                          \
		int inner = leaf_##n(a);                                                           \
                                                                                                   \
		inner_calls.leaf[n]++;                                                             \
		KEEP(inner);                                                                       \
		return inner + 1;                                                                  \
	}                                                                                          \
	int tail_##n(int a)                                                                        \
	{                                                                                          \
		inner_calls.global[n]++;                                                           \
		return global_##n(a + 1);                                                          \
	}                                                                                          \
	__attribute__((noinline)) int recursive_##n(int depth)                                     \
	{                                                                                          \
		int less = 0;                                                                      \
                                                                                                   \
		if (depth > 0) {                                                                   \
			inner_calls.recursive[n]++;                                                \
			less = recursive_##n(depth - 1);                                           \
			KEEP(less);                                                                \
		}                                                                                  \
		return less + depth + n;                                                           \
	}                                                                                          \
	int calling_##n(callback *function, int a)                                                 \
	{                                                                                          \
		int result = function(a + n);                                                      \
                                                                                                   \
		KEEP(result);                                                                      \
		return result + 1;                                                                 \
	}
EACH_NUMBER(DEFINE)

int target_ping(int n)
{
	return n;
}
