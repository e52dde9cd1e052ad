/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions whose first instructions are branch targets, behind the first byte: see
 * branches.c.
 */
#ifndef TRACER_ENGINE_AGENT_BRANCHES_H
#define TRACER_ENGINE_AGENT_BRANCHES_H

#include "engine/agent/agent.h"

/*
 * Does the longest part of agent_install(), the search for branches, without a stop, while the
 * process of `tid` runs. The candidates stay. Returns 0 or -errno; -EAGAIN: `longest` ns were not
 * enough, and it has to be called again.
 */
int agent_look_ahead(struct agent *agent, struct space *space, pid_t tid, uint64_t longest);

#endif
