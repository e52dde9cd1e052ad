// SPDX-License-Identifier: GPL-2.0-or-later
// A function that fills what its argument points to, and in between does what makes the tracer look at its stack: the
// return is seen otherwise then than it was expected to be.
#include <execinfo.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

long filled_later(long (*between)(void), long *result);

static long nothing(void)
{
	return 1;
}

static long walk_the_stack(void)
{
	void *frames[9];

	return backtrace(frames, 9) > 0 ? 2 : -1;
}

// The child returns from what its parent has called.
static long make_a_child(void)
{
	pid_t child = fork();

	if (child)
		waitpid(child, NULL, 0);
	return child ? 3 : 4;
}

__attribute__((noinline)) long filled_later(long (*between)(void), long *result)
{
	*result = between() * 111;
	return *result;
}

int main(void)
{
	struct sigaction old;
	long result = 0;

	for (int i = 0; i < 3; i++)
		sigaction(SIGUSR1, NULL, &old);
	filled_later(nothing, &result);
	filled_later(walk_the_stack, &result);
	filled_later(make_a_child, &result);
	return 0;
}
