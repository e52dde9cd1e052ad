/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of return trampolines, as they are in a tracee: which are in use, and the true return
 * address of each.
 */
#ifndef TRACER_ENGINE_AGENT_RETURN_TRAMPOLINES_H
#define TRACER_ENGINE_AGENT_RETURN_TRAMPOLINES_H

#include "engine/agent/agent_state.h"

/* The record of a return trampoline, as it is in a tracee. */
struct return_trampoline {
	uint64_t place, return_address, time, probe;
};
/* Returns false if the trampoline is free or at rest. */
static inline bool return_trampoline_in_use(const struct return_trampoline *slot)
{
	return slot->place && slot->place % 8 == 0;
}
struct return_trampolines {
	uint64_t unit; /* base address of the unit */
	struct return_trampoline slots[AGENT_TRAMPOLINE_COUNT];
};

/*
 * The number of the return trampoline at `stub`, for the unit at `base`; else
 * AGENT_TRAMPOLINE_COUNT or more.
 */
static inline uint64_t return_trampoline_number(uint64_t base, uint64_t stub)
{
	return (stub - base - AGENT_RETURN_STUBS) / AGENT_RETURN_STUB;
}

/*
 * Returns true if a call whose return address is at `place` would find a free return trampoline, by
 * the rules of agent_entry.S, or if that cannot be read. `tail_call`: the return address is itself
 * a trampoline.
 */
bool return_trampoline_is_there(const struct space *space, const struct agent_unit *unit,
				uint64_t place, bool tail_call);
/* Reads the trampoline records of the unit at `base`; the caller frees them. NULL: not readable. */
struct return_trampolines *return_trampolines_read(const struct space *space, uint64_t base);
/*
 * The record of the return trampoline `word`, if it is one of `slots` and belongs to `place`; else
 * NULL.
 */
const struct return_trampoline *return_trampoline_of(const struct return_trampolines *slots,
						     uint64_t word, uint64_t place);

#endif
