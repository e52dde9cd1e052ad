/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fifty functions, five of each of ten shapes. A shape's function is NAME_0 … NAME_4; the number goes
 * into the result, so that each has code of its own.
 */
#ifndef COUNTED_H
#define COUNTED_H

struct triple {
	long first, second, third;
};

typedef int callback(int);

/* What the library calls itself: traced by -x, not by -e, which means the main program's calls. */
struct inner_calls {
	long leaf[5], global[5], recursive[5];
};

extern __thread struct inner_calls inner_calls;

/* X(number), five times */
#define EACH_NUMBER(X) X(0) X(1) X(2) X(3) X(4)

#define DECLARE(n)                                                                                 \
	int leaf_##n(int a);                                                                       \
	int global_##n(int a);                                                                     \
	int many_##n(int a, int b, int c, int d, int e, int f, int g, int h);                      \
	double floating_##n(double a, int b);                                                      \
	struct triple wide_##n(long a, long b);                                                    \
	int text_##n(const char *text);                                                            \
	int nested_##n(int a);                                                                     \
	int tail_##n(int a);                                                                       \
	int recursive_##n(int depth);                                                              \
	int calling_##n(callback *function, int a);
EACH_NUMBER(DECLARE)
#undef DECLARE

int target_ping(int n);

/* ---- the main program's side: counted_calls.c ---- */

enum { SHAPES = 10, NUMBERS = 5, FUNCTIONS = SHAPES * NUMBERS };

/* Names without "_0" … "_4". */
extern const char *const counted_shapes[SHAPES];

/*
 * Calls function `which`, number which % NUMBERS of shape which / NUMBERS. The result, which must be
 * what is computed beside it.
 */
long counted_call(int which, int a, long *expected);

#endif
