/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions cannot be patched now, as threads are in the way: see in_way.c. */
#ifndef TRACER_ENGINE_AGENT_IN_WAY_H
#define TRACER_ENGINE_AGENT_IN_WAY_H

#include "base/vec.h"
#include "tracee/tracee.h"

struct in_way {
	struct space *space;
	const struct vec *candidates; /* struct patch_candidate, by address */
	bool *is_busy;		      /* of each candidate: a thread is in the way */
	uint64_t low, high;	      /* all jumps will be in [low, high) */
};

/* Marks what a stopped thread is in the way of. Returns 0, or -errno if that cannot be told. */
int in_way_look(struct in_way *in_way, struct thread *thread);

#endif
