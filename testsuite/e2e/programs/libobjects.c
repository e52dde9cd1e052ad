/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "objects.h"

#define RETURN_1(name, ...) \
	int name(__VA_ARGS__) \
	{                     \
		return 1;     \
	}

RETURN_1(o_point, const struct point *p __attribute__((unused)))
RETURN_1(o_named_point, const struct point *p __attribute__((unused)), int i __attribute__((unused)))
RETURN_1(o_list, const struct list *l __attribute__((unused)))
RETURN_1(o_array, const int *a __attribute__((unused)), int n __attribute__((unused)))
RETURN_1(o_bytes, const unsigned char *a __attribute__((unused)), long n __attribute__((unused)))
RETURN_1(o_strings, char **s __attribute__((unused)))
RETURN_1(o_points, const struct point *p __attribute__((unused)), int n __attribute__((unused)))
RETURN_1(o_counted, const struct counted *c __attribute__((unused)))
RETURN_1(o_row, const struct row *r __attribute__((unused)))
RETURN_1(o_outer, const struct outer *o __attribute__((unused)))
RETURN_1(o_large, const struct large *l __attribute__((unused)))
RETURN_1(o_pointers, int ***i __attribute__((unused)), const char **s __attribute__((unused)),
	 double *d __attribute__((unused)), char *c __attribute__((unused)))
RETURN_1(o_wide, const wchar_t *a __attribute__((unused)), const wchar_t *b __attribute__((unused)),
	 int n __attribute__((unused)))
RETURN_1(o_enum, int a __attribute__((unused)), short b __attribute__((unused)), unsigned c __attribute__((unused)))
RETURN_1(o_bits, unsigned short a __attribute__((unused)), unsigned char b __attribute__((unused)),
	 const void *c __attribute__((unused)))
RETURN_1(o_bool, int a __attribute__((unused)), char b __attribute__((unused)), int c __attribute__((unused)))
RETURN_1(o_hidden, int a __attribute__((unused)), int b __attribute__((unused)),
	 const char *c __attribute__((unused)), int d __attribute__((unused)))
RETURN_1(o_fault, const struct point *p __attribute__((unused)), const int *i __attribute__((unused)),
	 char **s __attribute__((unused)))

int o_fill(struct point *p, int *a, int n, const char **text)
{
	p->x = 1;
	p->y = 2.5;
	p->name = "filled";
	for (int i = 0; i < n; i++)
		a[i] = 10 * i;
	*text = "out";
	return n;
}

int o_result(int *a)
{
	a[0] = 7;
	a[1] = 8;
	return 2;
}

struct point *o_found(struct point *p)
{
	return p;
}

double o_hex(double d, float f, const double *p)
{
	return d + f + *p;
}

unsigned o_names(const char *path, int flags)
{
	return (unsigned char)*path + (unsigned)flags;
}

long o_fixed(signed char a, unsigned short b, size_t c, ptrdiff_t d, long long e)
{
	return a + b + (long)c + d + (long)e;
}

struct pair o_pair(struct pair p, int i)
{
	p.a += i;
	return p;
}

struct mixed o_mixed(struct mixed m, int i, double d)
{
	m.i += i;
	m.d += d;
	return m;
}

struct floats o_floats(struct floats f, float by)
{
	f.x += by;
	return f;
}

struct half o_half(struct half h, int i)
{
	h.i += i;
	return h;
}

struct longs o_longs(int a, int b, int c, int d, int e, struct longs l, int f)
{
	l.a += a + b + c + d + e + f;
	return l;
}

struct big o_big(int i, struct big b, int k)
{
	b.a += i;
	b.b += k;
	return b;
}

struct bytes o_three(struct bytes b, char c)
{
	b.c[0] = c;
	return b;
}

struct longest o_longest(int i, struct longest l, int k)
{
	l.number += i + k;
	return l;
}

struct named o_named(struct named a, struct named b)
{
	a.number += b.number;
	return a;
}

float _Complex o_complex_float(float _Complex c, int i)
{
	return c + (float)i;
}

double _Complex o_complex(int i, double _Complex c, double d)
{
	return c * d + i;
}

long double _Complex o_complex_long(long double _Complex c, int i)
{
	return c + i;
}

int o_later(int *i, struct named n, struct mixed m, struct pair p)
{
	return *i + (int)n.number + m.i + p.a;
}
