/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the tracer's time off the durations of counted calls: see delays.c. */
#ifndef TRACER_ENGINE_AGENT_DELAYS_H
#define TRACER_ENGINE_AGENT_DELAYS_H

#include "engine/agent/agent.h"

/* Implements engine_events.delayed for pending calls that the agent counts (delays.c). */
void agent_delayed(const struct agent *agent, struct thread *thread, uint64_t sp, uint64_t time,
		   uint64_t more);

#endif
