/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that tracees read: the processor's, or the system's if the processor's is not
 * reliable: see clock.c.
 */
#ifndef TRACER_ENGINE_AGENT_CLOCK_H
#define TRACER_ENGINE_AGENT_CLOCK_H

#include "engine/agent/agent_state.h"

/* The current value of the clock that tracees read. */
uint64_t agent_clock(const struct agent *agent);
/*
 * Reads all clocks at one moment: no time in which the tracer did not run lies between the
 * readings. After clocks_begin().
 */
struct clock_sample agent_now(const struct agent *agent);
/* Like agent_now(); also sets *ns to the ns per unit of agent_clock(), which takes up to 2 ms. */
struct clock_sample agent_now_measured(const struct agent *agent, double *ns);
void clocks_begin(struct agent *agent);
/* Converts `ns` to units of agent_clock(), at the rate that is known so far, without waiting. */
uint64_t agent_clock_units(const struct agent *agent, uint64_t ns);
/* Returns NULL, or why the agent's clock cannot be read in the space. Before its first unit. */
const char *clock_prepare(const struct agent *agent, const struct thread *thread);
/*
 * If the agent's code has called the vDSO to read the clock, returns where that returns to; else 0.
 */
uint64_t clock_reader(const struct space *space, const struct regs *regs);
/* The ns per unit of agent_clock(). */
double agent_ns(const struct agent *agent);

#endif
