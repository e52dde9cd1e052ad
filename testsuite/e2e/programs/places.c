/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats that say which argument each conversion takes, as translated messages do; and conversions
 * that printf(3) has not, of SQLite and Redis.
 */
#include <stdarg.h>

int p_format(int number, const char *format, ...);
int p_sqlite(int number, const char *format, ...);
int p_redis(int number, const char *format, ...);

static volatile int calls;

__attribute__((noinline)) int p_format(int number, const char *format, ...)
{
	(void)format;
	calls++;
	return number;
}

__attribute__((noinline)) int p_sqlite(int number, const char *format, ...)
{
	(void)format;
	calls += 2;
	return number;
}

__attribute__((noinline)) int p_redis(int number, const char *format, ...)
{
	(void)format;
	calls += 3;
	return number;
}

int main(void)
{
	p_format(1, "%2$s %1$d", 5, "five");
	p_format(2, "%1$d %1$x %2$Lf %4$.*3$s %5$lld", 7, 2.5L, 3, "abcdef", 1LL << 40);
	p_format(3, "%1$.*4$s %2$f %3$ld", "abcdef", 1.5, 9L, 2);
	p_format(4, "%1$s %3$s", "a", "gap", "c");
	p_format(5, "%2$*1$d%% %3$c %m", 4, 77, 'x');
	p_format(6, "%s %1$d", "mixed", 3);
	p_format(7, "%33$d %1$d", 1);
	p_format(8, "%7$s %6$.1f %5$s %4$s %3$s %2$s %1$s", "1", "2", "3", "4", "5", 6.5, "7");
	p_format(9, "%1$s %0$d %4294967297$d", "nothing at 0", 3);
	p_format(10, "'%q' %Q %w %d %z) %qd %zd", "it's", "Q", "w", 7, "z", 8LL, (long)9);
	p_format(11, "%d %K %d", 1, 2, 3);
	p_sqlite(12, "%ls %!.3f %,d %r %lld %q", "narrow", 1.5, 1000, 3, 1LL << 40, "it's");
	p_sqlite(13, "%d %S %d", 1, "internal", 2);
	p_redis(14, "SET %s %b %d %%", "key", (void *)0x1234567, (unsigned long)3, 5);
	p_redis(15, "%b%b", (void *)0x1234567, (unsigned long)3, (void *)0x1234568, (unsigned long)4);
	return 0;
}
