/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that are passed by value in all ways there are, and structs with all kinds of members. */
#ifndef PASSING_H
#define PASSING_H

union number {
	int i;
	float f;
};

union fraction {
	double d;
	float f;
};

/* A word with an integer, and one without. */
union both {
	double d[2];
	long long l;
};

struct bits {
	unsigned a : 3;
	int b : 7;
	_Bool c : 1;
	unsigned char d;
	unsigned long long e : 40;
	short f : 9;
};

#define NEST(what)                                                                                 \
	struct {                                                                                   \
		struct {                                                                           \
			struct {                                                                   \
				struct {                                                           \
					what;                                                      \
				} s;                                                               \
			} s;                                                                       \
		} s;                                                                               \
	} s

struct deep {
	NEST(NEST(NEST(int x; int y)));
};

struct deep_float {
	NEST(NEST(NEST(float x; float y)));
};

struct many {
	char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z;
	int last;
};

struct rows {
	int number[2][3];
	char name[2][4];
	union number either;
	struct {
		int inner;
	};
	union {
		long first;
		char second;
	};
};

struct open {
	int count;
	int numbers[];
};

struct __attribute__((packed)) packed {
	char a;
	long long b;
	char c;
	long long d;
	char e;
};

struct empty {};

/* In memory, but for results, which are in a register of the x87. */
union longs {
	long double x, y;
};

/* In registers for integers. */
union overlaid {
	long double x;
	long long l[2];
};

union number v_number(union number n, int last);
union fraction v_fraction(union fraction n, double next, int last);
union both v_both(union both n, double next, int last);
struct bits v_bits(struct bits bits, int last);
struct deep v_deep(int first, struct deep deep, int last);
struct deep_float v_deep_float(double first, struct deep_float deep, int last);
struct many v_many(int first, struct many many, int last);
struct packed v_packed(int first, struct packed packed, int last);
int v_empty(int first, struct empty empty, int last);
float _Complex v_complex_float(float _Complex z, int last);
double _Complex v_complex(int first, double _Complex z, int last);
long double _Complex v_complex_long(long double _Complex z, int last);
union longs v_longs(union longs n, int last);
union overlaid v_overlaid(union overlaid n, int last);
int v_rows(struct rows *rows, int last);
int v_many_at(const struct many *many);
int v_open(struct open *open);
int v_packed_at(struct packed *packed);
int v_bits_at(struct bits *bits);
int v_deep_at(struct deep *deep);
#ifdef __SIZEOF_INT128__
struct wide {
	__int128 a : 70;
	int b;
};

__int128 v_huge(__int128 n, int last);
int v_wide_at(struct wide *wide);
int v_huge_last(int a, int b, int c, int d, int e, __int128 n, int last, int g, __int128 o);
#endif

#endif
