/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What breakpoints and pending calls refer to, sites and hooks: finding, replacing and listing
 * these references (trap.h).
 */
#include "engine/trap/references.h"

#include "engine/core/callstack.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/trap_state.h"

struct hook *trap_hook_at(const struct space *space, uint64_t address)
{
	const struct breakpoint *breakpoint = breakpoint_find(space, address);

	return breakpoint ? breakpoint->hook : NULL;
}

bool trap_change_site(const struct space *space, uint64_t address, const struct probe_site *site)
{
	struct breakpoint *breakpoint = breakpoint_find(space, address);

	if (!breakpoint || !breakpoint->site || breakpoint->lost)
		return false;
	breakpoint->site = site;
	return true;
}

struct use {
	trap_use *use;
	void *context;
};

static void use_of_call(void *context, const struct call *call)
{
	const struct use *use = context;

	use->use(use->context, call->site, call->hook);
}

void trap_space_uses(const struct space *space, trap_use *use, void *context)
{
	struct use with = {use, context};
	size_t cursor = 0;
	void *value;

	while (space->trap && map_next(&space->trap->breakpoints, &cursor, NULL, &value)) {
		const struct breakpoint *breakpoint = value;

		use(context, breakpoint->site, breakpoint->hook);
	}
	goroutines_each(space, use_of_call, &with);
}

void trap_thread_uses(const struct thread *thread, trap_use *use, void *context)
{
	struct use with = {use, context};

	if (thread->calls->stacks)
		callstacks_each(thread->calls->stacks, use_of_call, &with);
}
