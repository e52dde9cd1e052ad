// SPDX-License-Identifier: GPL-2.0-or-later
/* A program in vfork(2): its child, which does not exec, waits for the end of the input. */
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

int spawn(void);

__attribute__((noinline)) int spawn(void)
{
	char byte;
	const pid_t child = vfork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (write(STDOUT_FILENO, "ready\n", 6) < 0 || read(STDIN_FILENO, &byte, 1) > 0)
			;
		_exit(0);
	}
	return child < 0;
}

int main(void)
{
	const int failed = spawn();

	return failed;
}
