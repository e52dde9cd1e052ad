/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a thread sleeps, without stopping it: see sleeper.c. */
#ifndef TRACER_TRACEE_SLEEPER_H
#define TRACER_TRACEE_SLEEPER_H

#include "base/arch.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SLEEPER_ARGUMENTS = 6 };

struct sleeper {
	uint64_t pc, sp;
	int64_t call; /* number of the system call that it waits in; -1: it is in none */
	uint64_t arguments[SLEEPER_ARGUMENTS]; /* the call's */
	uint64_t turns;			       /* how often it has been given a processor */
};

/* Returns false if the thread does not sleep, or is gone. */
bool sleeper_read(pid_t tid, struct sleeper *sleeper);
/* Returns true if the thread still sleeps there and has not run since: its stack is unchanged. */
bool sleeper_sleeps_on(pid_t tid, const struct sleeper *sleeper);

/*
 * Makes the registers of a thread of `arch` that sleeps there. They are partial (struct regs);
 * fs_base is `thread_pointer`.
 */
void sleeper_registers(const struct sleeper *sleeper, const struct arch *arch,
		       uint64_t thread_pointer, struct regs *regs);

/*
 * Finds the thread pointer of a thread with `arch` and `memory`, without a stop. Returns false if
 * its C library does not tell: see sleeper.c. It does not change until the process calls exec.
 */
bool sleeper_thread_pointer(pid_t tid, const struct arch *arch, const struct memory_source *memory,
			    uint64_t *thread_pointer);

#endif
