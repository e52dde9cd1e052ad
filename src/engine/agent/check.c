/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code and the jumps in it: what stands there without them, and those that the program has written
 * over, as engine/trap/check.c looks for breakpoints. They are not put back.
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

/* What a jump has taken the place of, as far as it is among the bytes. */
static void take_out(const struct space *space, const struct agent_probe *probe, uint64_t address,
		     uint8_t *bytes, size_t length)
{
	const struct journal_entry *entry = journal_entry(space->journal, probe->journal);

	if (!entry || entry->kind != JOURNAL_JUMP || entry->address != probe->address)
		return;
	for (size_t i = 0; i < AGENT_JUMP; i++) {
		const uint64_t at = probe->address + i - address;

		if (at < length && bytes[at] == entry->after[i])
			bytes[at] = entry->before[i];
	}
}

size_t agent_read_code(const struct space *space, uint64_t address, void *bytes, size_t length)
{
	const struct agent_space *own = space->agent;
	const size_t done = trap_read_code(space, address, bytes, length);
	size_t cursor = 0;
	void *value;

	if (!own || !own->probes.count)
		return done;
	if (length > own->probes.count) {
		while (map_next(&own->probes, &cursor, NULL, &value))
			take_out(space, value, address, bytes, done);
		return done;
	}
	for (uint64_t at = address - (AGENT_JUMP - 1); at - address < done || at < address; at++)
		if ((value = map_get(&own->probes, at)))
			take_out(space, value, address, bytes, done);
	return done;
}
