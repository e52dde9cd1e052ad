/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gates: hooks whose condition is tested in the process: see gates.c. */
#ifndef TRACER_ENGINE_AGENT_GATES_H
#define TRACER_ENGINE_AGENT_GATES_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * Removes the gate at `address` and plants the hook's breakpoint there, or drops the patch
 * candidate for it. Returns true if there was a gate or candidate. `thread` is at a safe stop.
 */
bool agent_take_gate_out(struct thread *thread, uint64_t address);
/* Returns true if `hook` has a gate at `address`, or a patch candidate for one. */
bool agent_has_gate(const struct space *space, uint64_t address, const struct hook *hook);
/* Makes the gates of all units know the return trampolines of a new unit. */
void gates_unit_made(struct space *space);
/*
 * If the thread is in the test of a gate: returns its probe, and sets *sp to the stack pointer at
 * the function's beginning. Else returns NULL.
 */
struct agent_probe *gates_place(const struct space *space, const struct regs *regs, uint64_t *sp);

#endif
