/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the calls took that are counted in the process: see buckets.c. */
#ifndef TRACER_ENGINE_AGENT_BUCKETS_H
#define TRACER_ENGINE_AGENT_BUCKETS_H

#include "engine/agent/agent_state.h"

/*
 * Gives the probe of that number its buckets, which are empty; does nothing if the times of single
 * calls are not kept. `thread` is at a safe stop. Returns 0 or -errno; -EBUSY: try again later.
 */
int buckets_prepare(struct agent_unit *unit, struct thread *thread, uint32_t number);
/*
 * Takes the counts since the last time out of the probe's buckets, and appends them to `found`
 * (struct record_bucket), RECORD_BUCKETS_MAX at most. `ns`: per unit of the clock.
 */
void buckets_collect(const struct agent_unit *unit, uint32_t number, double ns, struct vec *found);

#endif
