/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes jumps out for good, and punned jumps, some of whose bytes belong to the function behind
 * (jump_islands.c), before these bytes change: see kept.c.
 */
#ifndef TRACER_ENGINE_AGENT_KEPT_H
#define TRACER_ENGINE_AGENT_KEPT_H

#include "engine/agent/agent_state.h"

/*
 * Removes the jump to a probe stub for good, and plants a breakpoint in its place. `thread` is at a
 * safe stop. Other threads may be in the stub, which stays.
 */
void probe_give_up(struct thread *thread, struct agent_probe *probe, const char *reason);
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
