/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strict [clock]
 *
 * Calls a function 100 times, gives up all system calls but four (seccomp(2), strict), by which it
 * may not read the processor's clock any more either, or nothing but that clock, calls it 100 times
 * again and ends.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noipa)) int strict_add(int a, int b)
{
	sum = a + b;
	return sum;
}

static int give_up(int all)
{
	return all ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)
		   : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

int main(int argc, char **argv)
{
	(void)argv;
	int wrong = 0;

	for (int i = 0; i < 100; i++)
		wrong += strict_add(i, 1) != i + 1;
	if (give_up(argc == 1))
		return 2;
	for (int i = 0; i < 100; i++)
		wrong += strict_add(i, 2) != i + 2;
	syscall(SYS_exit, wrong != 0);
	return 0;
}
