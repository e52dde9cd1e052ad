// SPDX-License-Identifier: GPL-2.0-or-later
/* "N" on a line of stdin: calls t_small() N times, t_query() twice as often, t_slow() once. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int t_small(int number);
int t_query(const char *text, int length);
int t_slow(int number);

__attribute__((noinline)) int t_small(int number)
{
	__asm__ volatile("" : "+r"(number) : : "memory");
	return number * 2;
}

__attribute__((noinline)) int t_query(const char *text, int length)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return length;
}

__attribute__((noinline)) int t_slow(int number)
{
	usleep(30000);
	return number;
}

int main(void)
{
	char line[64], text[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		const int count = atoi(line);

		for (int i = 0; i < count; i++) {
			t_small(i);
			t_query(text, snprintf(text, sizeof text, "SELECT a FROM t WHERE id = %d", i));
			t_query(text, snprintf(text, sizeof text, "DELETE FROM t WHERE id = %d", i));
		}
		t_slow(count);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
