/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the C files of the agent's code in a tracee share. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_PROCESS_H
#define TRACER_SYSDEPS_X86_64_AGENT_PROCESS_H

#include "engine/agent/agent_abi.h"

#include <assert.h>
#include <stdint.h>

/* A thread's state, as agent_entry.S saves it. */
struct frame {
	uint64_t gpr[16];	 /* by hardware number */
	uint64_t number;	 /* of the probe, or of the return trampoline */
	uint64_t return_address; /* only at a function's entry */
};

struct return_trampoline {
	uint64_t place, return_address, time, probe;
};
static_assert(sizeof(struct return_trampoline) == AGENT_TRAMPOLINE, "shared layout");

/* Base address of the unit. */
extern __attribute__((visibility("hidden"))) unsigned char base[];

static inline uint64_t read_thread(void)
{
	uint64_t value;

	__asm__ volatile("rdfsbase %0" : "=r"(value));
	return value;
}

#endif
