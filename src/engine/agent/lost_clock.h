/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A clock that is forbidden to a thread while the agent reads it: see lost_clock.c. */
#ifndef TRACER_ENGINE_AGENT_LOST_CLOCK_H
#define TRACER_ENGINE_AGENT_LOST_CLOCK_H

#include "engine/agent/agent.h"

/*
 * To be called after agent_fault(). If the clock has been forbidden to a thread, all its calls
 * would fault, and kill it once the tracer is gone. So the space is given back to the trap engine.
 */
void agent_mind_clock(struct agent *agent, struct thread *thread);

#endif
