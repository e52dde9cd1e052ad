/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's jumps in code: reads code as it is without them, and reports jumps that the program
 * has written over, like engine/trap/overwritten.c for breakpoints: see entry_jumps.c.
 */
#ifndef TRACER_ENGINE_AGENT_ENTRY_JUMPS_H
#define TRACER_ENGINE_AGENT_ENTRY_JUMPS_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"
#include "engine/trap/overwritten.h"

/* Like trap_check(), for the agent's jumps. */
void agent_check(struct space *space, trap_overwritten *overwritten, void *context);
/* Like trap_read_code(), and without the agent's jumps. */
size_t agent_read_code(const struct space *space, uint64_t address, void *bytes, size_t length);
/* Returns true if a jump of the agent is at `address`. */
bool agent_has_jump(const struct space *space, uint64_t address);

#endif
