/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that find a thread in the agent's code: see agent_signals.c. */
#ifndef TRACER_ENGINE_AGENT_AGENT_SIGNALS_H
#define TRACER_ENGINE_AGENT_AGENT_SIGNALS_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * The thread has a SIGTRAP of a single-step that the program made itself (TF). Returns true if the
 * step was made by a jump of the agent: then the SIGTRAP must not be delivered. From then on the
 * agent catches nothing in the space, as a program that steps may count its steps.
 */
bool agent_stepped(struct agent *agent, struct thread *thread);
/*
 * Takes a stopped thread out of the agent's code. Must be called before a signal is delivered, and
 * before trap_before_signal().
 */
void agent_before_signal(struct thread *thread);

#endif
