/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has a backtrace made of itself in a signal handler, 200 times, as a sampling profiler does, amid calls. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t taken, frames;

void profiled_sample(int signal)
{
	void *places[32];

	(void)signal;
	frames += backtrace(places, 32) > 2;
	taken++;
}

__attribute__((noinline)) int profiled_leaf(int value)
{
	return value ^ 1;
}

__attribute__((noinline)) int profiled_round(int value)
{
	value = profiled_leaf(value);
	raise(SIGALRM);
	return profiled_leaf(value);
}

int main(void)
{
	const struct sigaction action = {.sa_handler = profiled_sample, .sa_flags = SA_RESTART};
	void *first[1];

	backtrace(first, 1); /* loads what it needs */
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 200; i++)
		profiled_round(i);
	printf("%s\n", frames == taken ? "true" : "false");
	return frames != taken;
}
