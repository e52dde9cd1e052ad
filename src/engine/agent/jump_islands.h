/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Punned jumps, for functions whose beginning has no room for a jump, and the jump islands that
 * they lead to: see jump_islands.c.
 */
#ifndef TRACER_ENGINE_AGENT_JUMP_ISLANDS_H
#define TRACER_ENGINE_AGENT_JUMP_ISLANDS_H

#include "engine/agent/agent_state.h"

/*
 * Makes a punned jump from a function to `stub`, of which only the first `covered` bytes, fewer
 * than AGENT_JUMP, are to be written; and the islands that it leads to. All threads are stopped.
 * Returns 0 or -errno; -ENOSPC: nothing can be mapped where the jump could lead; -EBUSY: `thread`
 * is not at a safe stop.
 */
int island_make(struct agent_space *own, struct thread *thread, uint64_t function, unsigned covered,
		uint64_t stub, struct entry_jump *jump);
/* Frees the islands of a function. No thread is there, or can get there. */
void island_free(struct agent_space *own, uint64_t function);
void islands_deinit(struct agent_space *own);
/* The probe whose island begins at `pc`, or NULL. */
const struct agent_probe *island_probe(const struct agent_space *own, uint64_t pc);
/* If the stopped thread is at an island, moves it to the function's beginning, and returns true. */
bool island_leave(struct thread *thread, struct regs *regs);

#endif
