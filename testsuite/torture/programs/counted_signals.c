/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles signals that are ignored by default, as servers do, and says of each whether it came from the parent. Two
 * threads call what is traced meanwhile. See rounds.h for the lines on stdin.
 */
#include "hostile.h"
#include "rounds.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 2 };

static atomic_bool stop;
static atomic_ulong rounds[THREADS];

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_code == SI_USER && info->si_pid == getppid())
		(void)!write(1, "came\n", 5);
	else
		(void)!write(1, "alien\n", 6);
}

static void *work(void *argument)
{
	atomic_ulong *round = argument;

	while (!stop) {
		host_bytes("text", 4);
		usleep(*round % 64 ? 0 : 50);
		++*round;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};

	(void)argv;
	sigaction(SIGWINCH, &action, NULL);
	if (argc > 1)
		sigaction(SIGCHLD, &action, NULL);
	return rounds_run(work, rounds, THREADS, &stop);
}
