/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patches a function's beginning with a jump: see install.c. */
#ifndef TRACER_ENGINE_AGENT_INSTALL_H
#define TRACER_ENGINE_AGENT_INSTALL_H

#include "engine/agent/agent.h"

/*
 * Patches the candidates as far as possible. `thread` is at a safe stop; the other threads are
 * stopped meanwhile. A candidate stays for the next call if a thread is in its first instructions,
 * or if there are many and `longest` ns are over. Returns true if only a unit was made, which took
 * its time: then it has to be called again soon.
 */
bool agent_install(struct agent *agent, struct thread *thread, uint64_t longest);

#endif
