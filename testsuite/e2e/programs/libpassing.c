/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "passing.h"

union number v_number(union number n, int last)
{
	n.i += last;
	return n;
}

union fraction v_fraction(union fraction n, double next, int last)
{
	n.d += next + last;
	return n;
}

union both v_both(union both n, double next, int last)
{
	n.d[1] += next;
	n.l += last;
	return n;
}

struct bits v_bits(struct bits bits, int last)
{
	bits.b += last;
	return bits;
}

struct deep v_deep(int first, struct deep deep, int last)
{
	(void)first;
	(void)last;
	return deep;
}

struct deep_float v_deep_float(double first, struct deep_float deep, int last)
{
	(void)first;
	(void)last;
	return deep;
}

struct many v_many(int first, struct many many, int last)
{
	(void)first;
	(void)last;
	return many;
}

struct packed v_packed(int first, struct packed packed, int last)
{
	(void)first;
	(void)last;
	return packed;
}

int v_empty(int first, struct empty empty, int last)
{
	(void)empty;
	return first + last;
}

float _Complex v_complex_float(float _Complex z, int last)
{
	return z + last;
}

double _Complex v_complex(int first, double _Complex z, int last)
{
	return z + first + last;
}

long double _Complex v_complex_long(long double _Complex z, int last)
{
	return z + last;
}

union longs v_longs(union longs n, int last)
{
	n.x += last;
	return n;
}

union overlaid v_overlaid(union overlaid n, int last)
{
	n.x += last;
	return n;
}

int v_rows(struct rows *rows, int last)
{
	return rows->number[1][2] + last;
}

int v_many_at(const struct many *many)
{
	return many->last;
}

int v_open(struct open *open)
{
	return open->count;
}

int v_packed_at(struct packed *packed)
{
	return packed->e;
}

int v_bits_at(struct bits *bits)
{
	return bits->f;
}

int v_deep_at(struct deep *deep)
{
	return deep != 0;
}

#ifdef __SIZEOF_INT128__
__int128 v_huge(__int128 n, int last)
{
	return n + last;
}

int v_wide_at(struct wide *wide)
{
	return wide->b;
}

int v_huge_last(int a, int b, int c, int d, int e, __int128 n, int last, int g, __int128 o)
{
	return a + b + c + d + e + (int)n + last + g + (int)o;
}
#endif
