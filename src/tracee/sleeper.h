/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a thread sleeps, without stopping it: see sleeper.c. */
#ifndef TRACER_TRACEE_SLEEPER_H
#define TRACER_TRACEE_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sleeper {
	uint64_t pc, sp;
	int64_t call;	   /* number of the system call that it waits in; -1: it is in none */
	uint64_t switches; /* how often the thread has left a processor */
};

/* Returns false if the thread does not sleep, or is gone. */
bool sleeper_read(pid_t tid, struct sleeper *sleeper);
/* Returns true if the thread still sleeps there and has not run since: its stack is unchanged. */
bool sleeper_sleeps_on(pid_t tid, const struct sleeper *sleeper);

#endif
