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

/* The code here does not use floating-point registers, so they have the program's values. */
static inline void read_vectors(uint8_t xmm[8][16])
{
	__asm__ volatile("movups %%xmm0, (%0)\n\tmovups %%xmm1, 16(%0)\n\t"
			 "movups %%xmm2, 32(%0)\n\tmovups %%xmm3, 48(%0)\n\t"
			 "movups %%xmm4, 64(%0)\n\tmovups %%xmm5, 80(%0)\n\t"
			 "movups %%xmm6, 96(%0)\n\tmovups %%xmm7, 112(%0)"
			 :
			 : "r"(xmm)
			 : "memory");
}

/* Stores only the registers in use: an empty stack would raise an exception. */
static inline void read_st(uint8_t st[2][16], unsigned count)
{
	if (count == 2)
		__asm__ volatile("fstpt (%0)\n\tfstpt 16(%0)\n\tfldt 16(%0)\n\tfldt (%0)"
				 :
				 : "r"(st)
				 : "memory");
	else
		__asm__ volatile("fstpt (%0)\n\tfldt (%0)" : : "r"(st) : "memory");
}

#endif
