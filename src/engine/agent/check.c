/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps that the program has written over, as engine/trap/check.c looks for breakpoints. They are
 * not put back.
 */
#include "engine/agent/private.h"

#include "base/xalloc.h"
#include "inferior/journal.h"

#include <stdlib.h>
#include <string.h>

struct checking {
	struct agent_probe **probes;
	struct memory_range *ranges;
	uint8_t *bytes; /* AGENT_JUMP of each */
	size_t count;
};

static void collect(const struct agent_space *own, struct checking *checking)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&own->probes, &cursor, NULL, &value)) {
		struct agent_probe *probe = value;
		size_t i = checking->count;

		if (probe->lost)
			continue;
		checking->probes[i] = probe;
		checking->ranges[i] = (struct memory_range){
			probe->address, checking->bytes + i * AGENT_JUMP, AGENT_JUMP, 0};
		checking->count++;
	}
}

void agent_check(struct space *space, trap_overwritten *overwritten, void *context)
{
	const struct agent_space *own = space->agent;
	size_t room = own ? own->probes.count : 0;

	if (!room)
		return;
	struct checking checking = {.probes = xcalloc(room, sizeof *checking.probes),
				    .ranges = xcalloc(room, sizeof *checking.ranges),
				    .bytes = xcalloc(room, AGENT_JUMP)};

	collect(own, &checking);
	if (checking.count)
		space->memory.readv(space->memory.context, checking.ranges, checking.count);
	for (size_t i = 0; i < checking.count; i++) {
		struct agent_probe *probe = checking.probes[i];
		const struct journal_entry *entry = journal_entry(space->journal, probe->journal);
		const uint8_t *now = checking.bytes + i * AGENT_JUMP;

		/* Those that we have taken out ourselves are in no journal any more. */
		if (checking.ranges[i].done < AGENT_JUMP || !entry || entry->kind != JOURNAL_JUMP ||
		    entry->address != probe->address || !memcmp(now, entry->after, AGENT_JUMP))
			continue;
		probe->lost = true;
		overwritten(context, probe->site, NULL, !memcmp(now, entry->before, AGENT_JUMP));
	}
	free(checking.probes);
	free(checking.ranges);
	free(checking.bytes);
}
