/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps to computed addresses: see computed.c. */
#ifndef TRACER_ENGINE_AGENT_COMPUTED_H
#define TRACER_ENGINE_AGENT_COMPUTED_H

#include "engine/agent/agent_state.h"

/*
 * Returns true if a jump of the function to a computed address may lead behind the first byte of
 * the agent's jump, which would be at `jump`.
 */
bool computed_may_lead_into(const struct agent *agent, const struct space *space,
			    const struct agent_function *function, uint64_t jump);

#endif
