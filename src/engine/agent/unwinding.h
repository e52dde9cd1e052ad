/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exceptions without a stop, if calls are counted: see unwinding.c. */
#ifndef TRACER_ENGINE_AGENT_UNWINDING_H
#define TRACER_ENGINE_AGENT_UNWINDING_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/* Returns true if unwinders can be patched: calls are counted, and rdfsbase is allowed. */
bool agent_may_unwind(const struct agent *agent);
/*
 * Adds the functions of an unwinder as patch candidates, so that exceptions need no stop. Does
 * nothing unless agent_may_unwind(). Until the functions are patched, their hooks stop threads.
 */
void agent_add_unwinder_candidate(const struct agent *agent, struct thread *thread,
				  const struct agent_unwinder *unwinder);
/*
 * A thread has stopped at a hook of a patched unwinder because the agent did not know its stack.
 * Tells the agent the bounds of that stack. Returns true if this succeeded: the thread must then be
 * resumed with `regs`, and unwinds without a stop.
 */
bool agent_bind_stack(struct thread *thread, struct regs *regs);
/*
 * Makes the unwinder stop at its hooks again, as before agent_add_unwinder_candidate(). All threads
 * of the space are stopped, including `thread`.
 */
void agent_stop_unwinders(struct agent *agent, struct thread *thread);
/* Turns patched unwinders on or off after jumps have changed. No thread is in the agent's code. */
void unwinding_update(struct space *space);
/* Forgets an unwinder in [low, high), which has been unmapped, and whose probes are gone. */
void unwinding_forget(struct space *space, uint64_t low, uint64_t high);
/* Makes patched unwinders stop while another process runs in the space. */
void unwinding_turn_off(struct space *space);
void unwinding_thread_gone(struct space *space, pid_t tid);

#endif
