/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that take and return structs, arrays and pointers to them; prototypes in objects.test. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stddef.h>
#include <wchar.h>

struct point {
	int x;
	double y;
	const char *name;
};

struct list {
	int value;
	struct list *next;
	struct list *previous;
};

struct counted {
	unsigned long count;
	const int *items;
	const char *text; /* of `count` bytes */
};

struct row {
	unsigned char count;
	short items[]; /* of `count` elements */
};

struct inner {
	char text[6];
	short pair[2];
	const char *names[2];
};

struct outer {
	struct inner inner;
	long long wide;
	long double longest;
	char last;
};

struct large {
	char before[1200];
	const char *behind;
};

struct pair {
	int a, b;
};

struct mixed {
	double d;
	int i;
};

struct floats {
	float x, y, z;
};

struct half {
	int i;
	float f;
	double d;
};

struct longs {
	long a, b;
};

struct big {
	long a, b, c;
	const char *text;
};

struct bytes {
	char c[3];
};

struct longest {
	long double number;
};

struct named {
	const char *name;
	double number;
};

int o_point(const struct point *);
int o_named_point(const struct point *, int);
int o_list(const struct list *);
int o_array(const int *, int);
int o_bytes(const unsigned char *, long);
int o_strings(char **);
int o_points(const struct point *, int);
int o_counted(const struct counted *);
int o_row(const struct row *);
int o_outer(const struct outer *);
int o_large(const struct large *);
int o_pointers(int ***, const char **, double *, char *);
int o_fill(struct point *, int *, int, const char **);
int o_result(int *);
struct point *o_found(struct point *);
int o_wide(const wchar_t *, const wchar_t *, int);
int o_enum(int, short, unsigned);
int o_bits(unsigned short, unsigned char, const void *);
int o_bool(int, char, int);
int o_hidden(int, int, const char *, int);
double o_hex(double, float, const double *);
unsigned o_names(const char *path, int flags);
int o_fault(const struct point *, const int *, char **);
long o_fixed(signed char, unsigned short, size_t, ptrdiff_t, long long);

struct pair o_pair(struct pair, int);
struct mixed o_mixed(struct mixed, int, double);
struct floats o_floats(struct floats, float);
struct half o_half(struct half, int);
struct longs o_longs(int, int, int, int, int, struct longs, int);
struct big o_big(int, struct big, int);
struct bytes o_three(struct bytes, char);
struct longest o_longest(int, struct longest, int);
struct named o_named(struct named, struct named);
float _Complex o_complex_float(float _Complex, int);
double _Complex o_complex(int, double _Complex, double);
long double _Complex o_complex_long(long double _Complex, int);
int o_later(int *, struct named, struct mixed, struct pair);

#endif
