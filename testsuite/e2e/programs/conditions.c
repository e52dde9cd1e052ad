// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of functions with known arguments and results, for conditions and templates. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct order {
	int number;
	const char *name;
	struct {
		short x, y;
	} place;
	long amounts[3];
};

int d_take(unsigned long size, const char *text);
int d_outer(int number);
char *d_find(const char *key);
long d_order(const struct order *order);
int d_fill(int number, int *filled);
double d_half(double number);
void d_end(int status);

__attribute__((noinline)) int d_take(unsigned long size, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return (int)size % 3 - 1;
}

__attribute__((noinline)) int d_outer(int number)
{
	return d_take((unsigned long)number * 1000, "from outer") + number;
}

__attribute__((noinline)) char *d_find(const char *key)
{
	__asm__ volatile("" : : "r"(key) : "memory");
	return (unsigned long)key > 4096 && *key == 'k' ? (char *)(unsigned long)key : NULL;
}

__attribute__((noinline)) long d_order(const struct order *order)
{
	__asm__ volatile("" : : "r"(order) : "memory");
	return order ? order->amounts[order->number % 3] : -1;
}

__attribute__((noinline)) int d_fill(int number, int *filled)
{
	*filled = number * 2;
	__asm__ volatile("" : : : "memory");
	return 0;
}

__attribute__((noinline)) double d_half(double number)
{
	__asm__ volatile("" : : : "memory");
	return number / 2;
}

__attribute__((noinline)) void d_end(int status)
{
	_exit(status);
}

int main(int argc, char **argv)
{
	const struct order orders[] = {{1, "apples", {2, -3}, {10, 20, 30}}, {2, "pears", {5, 7}, {40, 50, 60}}};
	int filled;

	(void)argc;
	(void)argv;
	for (unsigned long i = 0; i < 6; i++)
		d_take(i * 1024, i % 2 ? "SELECT a FROM t WHERE id = 17" : "a text that is longer than 32 bytes, by far");
	d_outer(5);
	d_outer(7);
	d_find("key");
	d_find("other");
	d_find(NULL);
	d_find((const char *)16);
	d_order(&orders[0]);
	d_order(&orders[1]);
	d_order(NULL);
	d_fill(4, &filled);
	d_fill(40, &filled);
	d_half(3);
	d_half(5);
	d_end(3);
}
