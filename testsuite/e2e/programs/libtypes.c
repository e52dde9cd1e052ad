/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function for each type that a prototype can name; each returns its (first) argument. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define IDENTITY(name, type)  \
	type name(type value) \
	{                     \
		return value; \
	}

IDENTITY(t_char, char)
IDENTITY(t_uchar, unsigned char)
IDENTITY(t_short, short)
IDENTITY(t_ushort, unsigned short)
IDENTITY(t_int, int)
IDENTITY(t_uint, unsigned int)
IDENTITY(t_long, long)
IDENTITY(t_ulong, unsigned long)
IDENTITY(t_llong, long long)
IDENTITY(t_float, float)
IDENTITY(t_double, double)
IDENTITY(t_addr, void *)
IDENTITY(t_file, FILE *)
IDENTITY(t_string, const char *)
IDENTITY(t_string5, const char *)
IDENTITY(t_oct, unsigned int)
IDENTITY(t_hex, unsigned int)
IDENTITY(t_typedef, int)
IDENTITY(t_comment, int)
IDENTITY(t_after, int)
IDENTITY(t_unknown, long)

void t_void(void)
{
}

const char *t_counted(const char *text, int length)
{
	return length ? text : 0;
}

/* The buffer has its contents when the call is over. */
int t_fill(char *buffer, int length)
{
	memset(buffer, 'z', (size_t)length - 1);
	buffer[length - 1] = '\0';
	return length;
}

int t_format(int first, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	va_end(list);
	return first;
}

/* More arguments than any ABI has registers for, of both kinds in turn. */
int t_many(int a, double b, int c, float d, long e, double f, short g, double h, int i, double j, char k, double l,
	   int m, double n, int o, double p, int q, double r)
{
	return (int)(a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r);
}
