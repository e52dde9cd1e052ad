/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debug.h"

#include <string.h>

int use_pt(struct pt *p, int k)
{
	return p->x + 4 + k;
}

double d_numbers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
		 unsigned long h, long long i, unsigned long long j, float k, double l, long double m)
{
	return a + b + c + d + e + f + g + h + i + j + k + l + m;
}

char d_char(char c, _Bool up)
{
	return up ? c + 1 : c;
}

enum color d_next(enum color color, enum flags flags, enum level level)
{
	return color == RED ? GREEN : flags + level > 100 ? BLUE : RED;
}

const char *d_text(const char *text, char *other, const unsigned char *bytes, void *memory)
{
	return text ? text : other ? other : bytes ? (const char *)bytes : memory;
}

point d_point(point p, const int *constant, int *variable)
{
	*variable = *constant;
	return p;
}

struct pair d_pair(struct pair pair)
{
	return (struct pair){pair.b, pair.a};
}

int d_list(struct list *list)
{
	return list->next ? list->next->value : list->value;
}

int d_mixed(const struct mixed *mixed)
{
	return mixed->numbers[1] + mixed->color;
}

int d_tight(struct tight *tight)
{
	return tight->second;
}

int d_union(union either *either, struct hidden *hidden)
{
	return hidden ? 0 : either->number;
}

int d_by_union(union either either)
{
	return either.number;
}

int d_stream(FILE *stream, int (*function)(void))
{
	return stream && function ? 1 : 0;
}

int d_format(int number, const char *format, ...)
{
	return number + (int)strlen(format);
}

int d_many(int count, ...)
{
	return count;
}

void d_nothing(void)
{
}

float d_quarter(float number, long by, int plus)
{
	return number / by + plus;
}
