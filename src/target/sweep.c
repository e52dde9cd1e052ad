/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frees sites that nothing refers to.
 *
 * A site may be met again at any time: a library is loaded once more, or another process loads it.
 * So a site is kept when its last breakpoint goes. But a process that compiles code as it runs (a
 * template engine, a database's query planner) loads libraries of ever new names, with ever new
 * functions: millions of sites in a day that are never met again. So when there are twice as many
 * sites as were in use last time, those that neither a breakpoint nor a pending call refers to are
 * freed, with their probes and plans, and so are unused hooks of IFUNCs and indirect calls. That is
 * done between two stops, when no pointer to a site is on the tracer's stack.
 */
#include "target/sweep.h"

#include "engine/agent/got_calls.h"
#include "engine/trap/references.h"
#include "target/ifuncs.h"
#include "target/indirect_calls.h"
#include "target/sites.h"
#include "target/target_state.h"

enum { SWEEP_AT_LEAST = 256 };

static void mark_hook(struct target *target, struct hook *hook)
{
	indirect_mark(target, hook);
	ifuncs_mark(hook);
}

static void mark(void *context, const struct probe_site *site, struct hook *hook)
{
	if (site)
		sites_mark(context, site);
	if (hook)
		mark_hook(context, hook);
}

static void mark_all(struct target *target)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&target->tracees->processes, &cursor, NULL, &value)) {
		const struct process *process = value;

		if (!process->space)
			continue;
		trap_space_uses(process->space, mark, target);
		agent_space_uses(process->space, mark, target);
	}
	cursor = 0;
	while (map_next(&target->tracees->threads, &cursor, NULL, &value))
		trap_thread_uses(value, mark, target);
}

static size_t kept(const struct target *target)
{
	return target->sites.count + target->ifuncs.count + target->pointers.count;
}

void sweep_sites(struct target *target)
{
	if (kept(target) < SWEEP_AT_LEAST || kept(target) < target->sweep_at)
		return;
	mark_all(target);
	sites_drop(target);
	indirect_drop(target);
	ifuncs_drop(target);
	target->sweep_at = 2 * kept(target);
}
