/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of the agent's own code in a process: it reads memory that may be unreadable, and a clock
 * that may be forbidden: see faults.c.
 */
#ifndef TRACER_ENGINE_AGENT_FAULTS_H
#define TRACER_ENGINE_AGENT_FAULTS_H

#include "engine/agent/agent.h"

/*
 * Handles a SIGSEGV or SIGBUS of the agent's code, which read unreadable memory, or the clock
 * although that is forbidden to the thread; or a thread that was interrupted because such a read
 * took too long (`interrupted`). Also handles the code of an orphan, by the space's journal.
 * Returns true if the thread goes on behind the read and the signal must not be delivered. SIGSEGV,
 * SIGBUS, SIGFPE and SIGILL in the first instructions of a function: see guards.c.
 */
bool agent_fault(struct thread *thread, bool interrupted);
/*
 * To be called after agent_fault(). If the clock has been forbidden to a thread, all its calls
 * would fault, and kill it once the tracer is gone. So the space is given back to the trap engine.
 */
void agent_mind_clock(struct agent *agent, struct thread *thread);

#endif
