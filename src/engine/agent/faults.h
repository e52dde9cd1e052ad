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
/* Like agent_fault(), for a SIGSEGV or SIGBUS of a thread that is run out of the agent's code. */
bool agent_read_fault(struct thread *thread);

#endif
