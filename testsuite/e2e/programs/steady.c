/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a call now and then, until it is killed. */
#include <unistd.h>

int steady_call(int number);

static volatile int calls;

__attribute__((noinline)) int steady_call(int number)
{
	calls++;
	return number;
}

int main(void)
{
	for (int i = 0;; i++) {
		steady_call(i);
		usleep(200);
	}
}
