/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all files of engine/agent ask of a space and of its units: see agent_state.h. */
#include "engine/agent/agent_state.h"

#include "base/xalloc.h"
#include "engine/agent/unit.h"
#include "engine/core/engine.h"
#include "engine/trap/breakpoint_takeover.h"

enum { STOP_MS = 1000 };

struct agent_space *agent_space_of(struct space *space)
{
	if (!space->agent) {
		trap_set_agent(space, true);
		space->agent = xcalloc(1, sizeof *space->agent);
		vec_init(&space->agent->candidates, sizeof(struct patch_candidate));
		vec_init(&space->agent->units, sizeof(struct agent_unit *));
	}
	return space->agent;
}

void agent_decide(const struct agent *agent, const struct probe_site *site, const char *reason)
{
	if (site)
		agent->decided(agent->events->context, site, reason);
}

bool agent_is_stub(const struct agent_space *own, uint64_t address)
{
	for (size_t i = 0; i < own->units.count; i++)
		if (unit_is_return_stub(*(struct agent_unit **)vec_at(&own->units, i), address))
			return true;
	return false;
}

struct agent_unit *agent_unit_at(const struct agent_space *own, uint64_t pc)
{
	for (size_t i = 0; i < own->units.count; i++) {
		struct agent_unit *unit = *(struct agent_unit **)vec_at(&own->units, i);

		if (pc - unit->base < AGENT_TEXT_BYTES)
			return unit;
	}
	return NULL;
}

struct stopping {
	const struct thread *except;
	bool all;
};

static void stop_other(struct thread *thread, void *context)
{
	struct stopping *stopping = context;

	if (thread != stopping->except && thread->state == THREAD_RUNNING)
		thread_stop(thread->process->tracees, thread, STOP_MS);
	stopping->all &= thread->state == THREAD_STOPPED;
}

bool agent_stop_others(const struct thread *thread)
{
	struct stopping stopping = {thread, true};

	space_each_thread(thread->process->tracees, thread->process->space, stop_other, &stopping);
	return stopping.all;
}
