/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

char t_char(char);
unsigned char t_uchar(unsigned char);
short t_short(short);
unsigned short t_ushort(unsigned short);
int t_int(int);
unsigned t_uint(unsigned);
long t_long(long);
unsigned long t_ulong(unsigned long);
long long t_llong(long long);
float t_float(float);
double t_double(double);
void *t_addr(void *);
FILE *t_file(FILE *);
const char *t_string(const char *);
const char *t_string5(const char *);
unsigned t_oct(unsigned);
unsigned t_hex(unsigned);
int t_typedef(int);
int t_comment(int);
int t_after(int);
long t_unknown(long);
void t_void(void);
const char *t_counted(const char *, int);
int t_fill(char *, int);
int t_format(int, const char *, ...);
int t_many(int, double, int, float, long, double, short, double, int, double, char, double, int, double, int, double,
	   int, double);

int main(void)
{
	char buffer[8] = "before";
	char longer[100];

	t_char('a');
	t_char('\n');
	t_uchar(200);
	t_short(-3);
	t_ushort(65535);
	t_int(-5);
	t_int(2147483647);
	t_uint(4000000000U);
	t_long(-7);
	t_ulong(4294967295UL);
	t_llong(-5000000000LL);
	t_float(1.5F);
	t_double(-3.25);
	t_addr((void *)0x1234);
	t_addr(NULL);
	t_string("text");
	t_string("");
	t_string(NULL);
	t_string((const char *)8);
	t_string5("abcdefgh");
	t_string5("abc");
	t_counted("abcdefgh", 3);
	t_counted("nul\0inside", 10);
	t_counted("x", 0);
	t_oct(8);
	t_hex(255);
	t_typedef(6);
	t_comment(7);
	t_after(8);
	t_void();
	t_fill(buffer, 5);
	t_format(1, "plain");
	t_format(2, "%d %s|%c %%", -1, "str", 'q');
	t_format(3, "%x %o %u %lu %lld %5.2f %g %p", 255, 8, 7U, 77UL, -5000000000LL, 2.5, 1e3, (void *)16);
	t_format(4, "%*d %.*s %hhd %zu", 3, 4, 2, "abc", 5, (size_t)6);
	t_format(5, NULL);
	t_format(7, "%ls %S %.2ls %ls", L"wide", L"\u017c", L"cut", NULL);
	t_format(6, "%d %f %d %f %d %f %d %f %d %f %d %f %d %f %d %f %d %f", 1, 1.0, 2, 2.0, 3, 3.0, 4, 4.0, 5, 5.0, 6,
		 6.0, 7, 7.0, 8, 8.0, 9, 9.0);
	t_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 'k', 12, 13, 14, 15, 16, 17, 18);
	for (int i = 0; i < 99; i++)
		longer[i] = (char)('a' + i % 26);
	longer[99] = '\0';
	t_string(longer);
	t_unknown(42);
	return 0;
}
