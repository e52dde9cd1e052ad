/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 100 sleeps of a millisecond, 5000 calls that take next to nothing: whose time is it? */
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 100; i++) {
		usleep(1000);
		for (int k = 0; k < 50; k++)
			getppid();
	}
	return 0;
}
