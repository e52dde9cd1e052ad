/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted.h"

const char *const counted_shapes[SHAPES] = {"leaf", "global", "many", "floating",  "wide",
					    "text", "nested", "tail", "recursive", "calling"};

static int called_back(int a)
{
	return a ^ 5;
}

#define CALL(n)                                                                                    \
	static long call_##n(int shape, int a, long *expected)                                     \
	{                                                                                          \
		static const int words[] = {11, 13, 17, 19, 23};                                   \
		struct triple triple;                                                              \
		int depth = a & 3;                                                                 \
                                                                                                   \
		switch (shape) {                                                                   \
		case 0:                                                                            \
			*expected = a * 3 + n;                                                     \
			return leaf_##n(a);                                                        \
		case 1:                                                                            \
			*expected = words[n] ^ a;                                                  \
			return global_##n(a);                                                      \
		case 2:                                                                            \
			*expected = a + 2 + 3 * 2 + 4 * 3 + 5 * 4 + 6 * 5 + 7 * 6 + 8 * a + n;     \
			return many_##n(a, 1, 2, 3, 4, 5, 6, a);                                   \
		case 3:                                                                            \
			*expected = 3 * a + n;                                                     \
			return (long)floating_##n(a, a);                                           \
		case 4:                                                                            \
			*expected = 2 * a + 7 + n;                                                 \
			triple = wide_##n(a, 7);                                                   \
			return triple.first + triple.third;                                        \
		case 5:                                                                            \
			*expected = 'a' + 'b' + 'c' + n;                                           \
			return text_##n("abc");                                                    \
		case 6:                                                                            \
			*expected = a * 3 + n + 1;                                                 \
			return nested_##n(a);                                                      \
		case 7:                                                                            \
			*expected = words[n] ^ (a + 1);                                            \
			return tail_##n(a);                                                        \
		case 8:                                                                            \
			*expected = depth * (depth + 1) / 2 + (depth + 1) * n;                     \
			return recursive_##n(depth);                                               \
		default:                                                                           \
			*expected = ((a + n) ^ 5) + 1;                                             \
			return calling_##n(called_back, a);                                        \
		}                                                                                  \
	}
EACH_NUMBER(CALL)

typedef long caller(int shape, int a, long *expected);

long counted_call(int which, int a, long *expected)
{
	static caller *const callers[NUMBERS] = {call_0, call_1, call_2, call_3, call_4};

	return callers[which % NUMBERS](which / NUMBERS, a, expected);
}
