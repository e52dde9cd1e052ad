/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Punned jumps: some of their bytes belong to the function behind (jump_islands.c): see kept.c. */
#ifndef TRACER_ENGINE_AGENT_KEPT_H
#define TRACER_ENGINE_AGENT_KEPT_H

#include "engine/agent/agent_state.h"

/* Returns true if a jump of the agent is at `address`. */
bool agent_has_jump(const struct space *space, uint64_t address);
/*
 * Removes the punned jumps that depend on bytes in [low, high), which are about to change. `thread`
 * is at a safe stop.
 */
void kept_make_way(struct thread *thread, uint64_t low, uint64_t high);
/* Has kept_make_way() done for breakpoints that the trap engine plants from now on. */
void kept_watch(struct space *space);
/* Writes the bytes that a punned jump depends on, before the jump itself is written. */
void kept_settle(struct space *space, uint64_t address, const struct entry_jump *jump);

#endif
