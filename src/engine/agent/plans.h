/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture plans for the agent: each is copied into a unit once, with its pointers changed: see
 * plans.c.
 */
#ifndef TRACER_ENGINE_AGENT_PLANS_H
#define TRACER_ENGINE_AGENT_PLANS_H

#include "engine/agent/agent_state.h"

struct plans;
struct plans *plans_create(void);
void plans_destroy(struct plans *plans);
/*
 * Takes `length` bytes of the room for plans, for other data. Returns the address in the tracee, a
 * multiple of 16; 0: there is not as much.
 */
uint64_t plans_take(struct plans *plans, uint64_t unit, size_t length);
/* Returns NULL, or why the tracee cannot make records by this plan. */
const char *plans_refuse(const struct capture_plan *plan);
/*
 * Writes the plan of a probe into its unit. Returns 0; -ENOSPC if there is no room for it; or
 * -errno.
 */
int plans_write(struct plans *plans, struct space *space, uint64_t unit, uint32_t number,
		const struct capture_plan *plan);

#endif
