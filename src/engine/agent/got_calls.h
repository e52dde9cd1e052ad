/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls through GOT slots, caught at the calling instruction: see got_calls.c. */
#ifndef TRACER_ENGINE_AGENT_GOT_CALLS_H
#define TRACER_ENGINE_AGENT_GOT_CALLS_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"
#include "engine/trap/references.h"

/* Like agent_add_candidate(), for such an instruction, which may have been a candidate before. */
const char *agent_add_call_candidate(struct agent *agent, struct space *space,
				     const struct agent_call *call);
/*
 * Returns true if the instruction at `address` is run out of line, because a jump of the agent
 * covers it or an instruction shortly before it.
 */
bool agent_moves(const struct space *space, uint64_t address);
/* Like trap_space_uses(), for patch candidates and for the probes that the agent catches. */
void agent_space_uses(const struct space *space, trap_use *use, void *context);
/* Plants the candidate's breakpoint, for the trap engine. Returns 0 or -errno. */
int candidate_plant(struct trap *trap, struct thread *thread,
		    const struct patch_candidate *candidate);
/* Returns NULL, or why a jump, or the instructions that it displaces, would hit other changes. */
const char *candidate_is_obstructed(const struct space *space,
				    const struct patch_candidate *candidate);
/*
 * Where in a probe stub a thread has to start if the return address is on its stack, as at a
 * function's entry: behind the code of a call's stub that pushes it.
 */
uint64_t probe_entered(const struct agent_probe *probe);
/* Moves a thread from the breakpoint of a probe stub back to where the call begins. */
void probe_turn_back(const struct agent_probe *probe, struct regs *regs);

#endif
