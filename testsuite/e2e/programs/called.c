/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Five thousand functions, of which one near the end is called, until the input ends. */
#include <poll.h>
#include <stdio.h>

#define FUNCTION(number)                                                                                               \
	__attribute__((noinline, noclone)) int c_##number(int given)                                                   \
	{                                                                                                              \
		__asm__ volatile("" : "+r"(given));                                                                    \
		return given + 1;                                                                                      \
	}
#define TEN(of, n) of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7) of(n##8) of(n##9)
#define TENS(n) TEN(FUNCTION, n)
#define HUNDREDS(n)                                                                                                    \
	TENS(n##0) TENS(n##1) TENS(n##2) TENS(n##3) TENS(n##4) TENS(n##5) TENS(n##6) TENS(n##7) TENS(n##8) TENS(n##9)
#define THOUSAND(n)                                                                                                    \
	HUNDREDS(n##0)                                                                                                 \
	HUNDREDS(n##1)                                                                                                 \
	HUNDREDS(n##2)                                                                                                 \
	HUNDREDS(n##3)                                                                                                 \
	HUNDREDS(n##4)                                                                                                 \
	HUNDREDS(n##5)                                                                                                 \
	HUNDREDS(n##6)                                                                                                 \
	HUNDREDS(n##7)                                                                                                 \
	HUNDREDS(n##8)                                                                                                 \
	HUNDREDS(n##9)

THOUSAND(0)
THOUSAND(1)
THOUSAND(2)
THOUSAND(3)
THOUSAND(4)

int main(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	int sum = 0;

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 1) == 0)
		sum = c_4900(sum);
	return sum < 0;
}
