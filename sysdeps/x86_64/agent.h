/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch->agent of x86_64. Private to sysdeps. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_H
#define TRACER_SYSDEPS_X86_64_AGENT_H

#include "engine/agent/agent_arch.h"

extern const struct agent_arch x86_64_agent;

/* agent_arch.names_word */
bool x86_64_names_word(const struct agent_function *function, size_t from, size_t to, uint64_t reg,
		       int64_t offset);

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
