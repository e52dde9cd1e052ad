/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch->agent of x86_64. Private to sysdeps. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_H
#define TRACER_SYSDEPS_X86_64_AGENT_H

#include "engine/agent/agent_arch.h"
#include "x86/x86.h"

extern const struct agent_arch x86_64_agent;

/* agent_arch.names_word */
bool x86_64_names_word(const struct agent_function *function, size_t from, size_t to, uint64_t reg,
		       int64_t offset);

/*
 * Whether an instruction never faults, but by a stack that is at its end. `has_frame`: %rbp points
 * to the stack. agent_plain.c.
 */
bool x86_64_cannot_fault(const struct x86_scan *scan, bool has_frame);

/* What reads the memory that a function begins by reading, before anything else: agent_guard.c. */
struct x86_64_guards {
	uint8_t bytes[AGENT_PROBE_GUARDED - AGENT_PROBE_GUARDS];
	size_t length;
	uint32_t written; /* bit n: register n is not known to be what it was at the beginning */
	bool branched;	  /* behind a conditional branch */
};

/*
 * Adds one for an instruction, whose bytes these are, of those that a function begins with: false
 * when there can be none. To be called in their order; and x86_64_guard_pass() for each behind it.
 */
bool x86_64_guard(struct x86_64_guards *guards, const uint8_t *bytes, const struct x86_scan *scan);
void x86_64_guard_pass(struct x86_64_guards *guards, const struct x86_scan *scan);
/* agent_arch.is_guard */
bool x86_64_is_guard(const uint8_t bytes[AGENT_GUARD_BACK], uint64_t *pushed);

/* The members of the same names: agent_references.c. */
bool x86_64_jumps_by_pointer(const uint8_t *code, size_t length);
bool x86_64_reads_distances(const uint8_t *code, size_t length);
void x86_64_find_references(const struct agent_function *function, agent_reference *found,
			    void *context);

/* The members of the same names: agent_clock.c. */
uint64_t x86_64_clock(void);
bool x86_64_clock_is_steady(void);
bool x86_64_emulate_clock(const uint8_t bytes[AGENT_CLOCK_BYTES], struct regs *regs);
void x86_64_use_system_clock(uint8_t *code, size_t length);

#endif
