/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopts what a tracer has left in a process when it was killed together with its guardian: units
 * that are in no journal, jumps to them, and return trampolines on stacks: see orphan_adoption.c.
 */
#ifndef TRACER_ENGINE_AGENT_ORPHAN_ADOPTION_H
#define TRACER_ENGINE_AGENT_ORPHAN_ADOPTION_H

#include "engine/agent/agent.h"

/*
 * Looks for the agent's part of an orphan. If there is one, notes it in the journal and returns
 * true; the caller then has to stop all threads of the space, and to undo the jumps
 * (agent_undo_jumps()). `thread` is at a safe stop, and this tracer has nothing in the space yet.
 */
bool agent_find_orphan(struct thread *thread);

#endif
