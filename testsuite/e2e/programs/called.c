/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hundred functions, of which one in their midst is called, until the input ends. */
#include <poll.h>
#include <stdio.h>

#define FUNCTION(number)                                                                                               \
	__attribute__((noinline, noclone)) int c_##number(int given)                                                   \
	{                                                                                                              \
		__asm__ volatile("" : "+r"(given));                                                                    \
		return given + 1;                                                                                      \
	}
#define TEN(tens)                                                                                                      \
	FUNCTION(tens##0)                                                                                              \
	FUNCTION(tens##1)                                                                                              \
	FUNCTION(tens##2)                                                                                              \
	FUNCTION(tens##3)                                                                                              \
	FUNCTION(tens##4)                                                                                              \
	FUNCTION(tens##5)                                                                                              \
	FUNCTION(tens##6)                                                                                              \
	FUNCTION(tens##7)                                                                                              \
	FUNCTION(tens##8)                                                                                              \
	FUNCTION(tens##9)

int c_70(int given);
TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	int sum = 0;

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 1) == 0)
		sum = c_70(sum);
	return sum < 0;
}
