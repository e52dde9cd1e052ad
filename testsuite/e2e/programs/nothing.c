/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An empty structure of C is returned by nobody, but has its place on i386. */
struct nothing {};

struct nothing nothing_made(int first, int second);
static volatile int sum;

__attribute__((noinline)) struct nothing nothing_made(int first, int second)
{
	sum += first * second;
	return (struct nothing){};
}

int main(void)
{
	nothing_made(5, 6);
	return sum != 30;
}
