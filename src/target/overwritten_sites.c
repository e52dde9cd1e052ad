/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose breakpoints or entry jumps the program has written over. From time to time the
 * engines compare their patches with the memory; what is gone is listed as untraced.
 */
#include "target/overwritten_sites.h"

#include "base/cleanup.h"
#include "engine/agent/entry_jumps.h"
#include "engine/trap/overwritten.h"
#include "target/indirect_calls.h"
#include "target/target_state.h"
#include "tracee/clock.h"

#include <string.h>

enum { CHECK_NS = 1000000000 };

struct check {
	struct target *target;
	bool hook;
};

static void overwritten(void *context, const struct probe_site *site, struct hook *hook,
			bool taken_out)
{
	struct check *check = context;
	const struct probe_site *lost = site ? site : hook ? indirect_site(hook) : NULL;

	if (lost)
		untraced_function(
			check->target->untraced, lost->info->module, lost->info->name, true,
			taken_out ? "calls since its breakpoint was taken out, by the program "
				    "or for a child in its memory that no tracer is told of"
			: site	  ? "calls since the program has written over its "
				    "beginning"
				  : "some calls since the program has written over the "
				    "code that makes them");
	else
		check->hook = true;
}

void modules_check(struct target *target, struct space *space, uint64_t now)
{
	struct modules *modules = space ? space->modules : NULL;
	struct check check = {target, false};

	if (!modules || modules->suspended_for || (now && now - modules->checked < CHECK_NS))
		return;
	modules->checked = now ? now : clock_now();
	trap_check(space, overwritten, &check);
	agent_check(space, overwritten, &check);
	if (check.hook)
		untraced_thing(target->untraced, "what comes later",
			       "the program has written over a place where it was watched: the "
			       "dynamic linker's, or one of the C library's");
}
