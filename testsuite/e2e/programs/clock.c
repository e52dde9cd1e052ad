/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock TIMES US: sleeps so often and so long, and does nothing a hundred times in between. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noipa)) int clock_sleep(int us)
{
	return usleep((unsigned)us);
}

__attribute__((noipa)) int clock_nothing(int value)
{
	return value + 1;
}

int main(int argc, char **argv)
{
	int value = 0;

	(void)argc;
	for (int i = atoi(argv[1]); i > 0; i--) {
		clock_sleep(atoi(argv[2]));
		for (int k = 0; k < 100; k++)
			value = clock_nothing(value);
	}
	return value % 100;
}
