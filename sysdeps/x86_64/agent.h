/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch->agent of x86_64. Private to sysdeps. */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_H
#define TRACER_SYSDEPS_X86_64_AGENT_H

#include "engine/agent/agent_arch.h"
#include "x86/x86.h"

extern const struct agent_arch x86_64_agent;

/* agent_arch.names_word, in agent_words.c */
bool x86_64_names_word(const struct agent_function *function, size_t from, size_t to, uint64_t reg,
		       int64_t offset);

/* Whether an instruction at a function's beginning can be run out of line: agent_plain.c. */
enum x86_64_plain {
	PLAIN_NOT,
	PLAIN_ACCESS,	   /* may fault by its memory operand, and in no other way */
	PLAIN_NEVER_FAULTS /* except at the end of the stack */
};
/* `has_frame`: %rbp points to the stack. */
enum x86_64_plain x86_64_plain(const struct x86_scan *scan, bool has_frame);

/*
 * Writes the guard of a function whose first instruction, `bytes`, accesses memory. Returns its
 * length. In agent_guard.c.
 */
size_t x86_64_put_guard(const uint8_t *bytes, const struct x86_scan *scan,
			uint8_t out[AGENT_GUARD_MAX]);
/* agent_arch.returns_member, in agent_references.c */
bool x86_64_returns_member(const uint8_t *code, size_t length, uint64_t *offset);
/* agent_arch.is_guard, in agent_guard.c */
bool x86_64_is_guard(const uint8_t bytes[AGENT_GUARD_BACK], uint64_t *pushed);

/* The members of agent_arch of these names: agent_calls.c. */
int x86_64_write_call_stub(struct decoder *decoder, const struct agent_function *code,
			   uint64_t slot, uint64_t unit, uint32_t probe, enum agent_role role,
			   uint8_t out[AGENT_PROBE_STUB]);
size_t x86_64_straight_before(struct decoder *decoder, const struct agent_function *function,
			      size_t offset);
enum agent_way x86_64_way_of(struct decoder *decoder, const struct agent_function *code,
			     uint64_t slot, size_t *length);

/* The offset in a unit's code that stubs lead to. */
static inline uint64_t x86_64_entry_of(enum agent_role role)
{
	static const uint64_t entries[] = {[AGENT_COUNTS] = 0,
					   [AGENT_RECORDS] = AGENT_RECORD_ENTRY,
					   [AGENT_BEGINS_UNWINDING] = AGENT_UNWINDING_BEGINS,
					   [AGENT_LANDS] = AGENT_UNWINDING_LANDS};

	return entries[role];
}

/* Length of a conditional branch in a stub, even if it is shorter in the function. */
enum { X86_64_NEAR_JCC = 6 };
/* agent_arch.offset_in_function, in agent_guard.c */
size_t x86_64_offset_in_function(struct decoder *decoder, const uint8_t *code, size_t length,
				 size_t offset);

/* The members of agent_arch of these names: agent_branches.c. */
void x86_64_find_branches(const uint8_t *code, size_t length, uint64_t address,
			  const struct sieve *asked, agent_branch *found, void *context);
bool x86_64_is_branch(struct decoder *decoder, const struct agent_function *function,
		      size_t offset);

/* The members of agent_arch of these names: agent_references.c. */
bool x86_64_jumps_by_pointer(const uint8_t *code, size_t length);
bool x86_64_reads_distances(const uint8_t *code, size_t length);
void x86_64_find_references(const struct agent_function *function, agent_reference *found,
			    void *context);

/* The members of agent_arch of these names: agent_clock.c. */
uint64_t x86_64_clock(void);
bool x86_64_clock_is_steady(void);
bool x86_64_emulate_clock(const uint8_t bytes[AGENT_CLOCK_BYTES], struct regs *regs);
void x86_64_use_system_clock(uint8_t *code, size_t length);

#endif
