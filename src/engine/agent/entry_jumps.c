/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's jumps in code: reads code as it is without them, and reports jumps that the program
 * has written over, like engine/trap/overwritten.c for breakpoints. Such jumps are not put back.
 */
#include "engine/agent/entry_jumps.h"

#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/overwritten.h"
#include "tracee/journal.h"
#include "tracee/memory_batch.h"

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
			probe->address, checking->bytes + i * AGENT_JUMP, probe->jump.length, 0};
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
	memory_batch_read(space, checking.ranges, checking.count);
	for (size_t i = 0; i < checking.count; i++) {
		struct agent_probe *probe = checking.probes[i];
		const struct journal_entry *entry = journal_entry(space->journal, probe->journal);
		const uint8_t *now = checking.bytes + i * AGENT_JUMP;

		/* Jumps that the tracer has removed itself are in no journal any more. */
		if (checking.ranges[i].done < probe->jump.length || !entry ||
		    entry->kind != JOURNAL_JUMP || entry->address != probe->address ||
		    !memcmp(now, entry->after, entry->length))
			continue;
		probe->lost = true;
		overwritten(context, probe->candidate.hook ? NULL : probe->site,
			    probe->candidate.hook, !memcmp(now, entry->before, entry->length));
	}
	free(checking.probes);
	free(checking.ranges);
	free(checking.bytes);
}

/* Replaces the bytes of a jump that are among `bytes` by those that it has replaced. */
static void take_out(const struct space *space, const struct agent_probe *probe, uint64_t address,
		     uint8_t *bytes, size_t length)
{
	const struct journal_entry *entry = journal_entry(space->journal, probe->journal);

	if (!entry || entry->kind != JOURNAL_JUMP || entry->address != probe->address)
		return;
	for (size_t i = 0; i < entry->length; i++) {
		const uint64_t at = probe->address + i - address;

		if (at < length && bytes[at] == entry->after[i])
			bytes[at] = entry->before[i];
	}
}

/* The first byte of a jump. */
static uint8_t jump_opcode(const struct space *space)
{
	uint8_t jump[ARCH_JUMP_MAX];

	space->arch->emit_jump(0, 0, jump);
	return jump[0];
}

static void take_out_at(const struct space *space, uint64_t at, uint64_t address, uint8_t *bytes,
			size_t length)
{
	const struct agent_probe *probe = map_get(&space->agent->probes, at);

	if (probe)
		take_out(space, probe, address, bytes, length);
}

/*
 * Looking each byte up in the map would take longer than all the rest. So only jump opcodes are
 * looked up, with up to AGENT_JUMP - 2 fillers in front of them.
 */
size_t agent_read_code(const struct space *space, uint64_t address, void *bytes, size_t length)
{
	const size_t done = trap_read_code(space, address, bytes, length);
	uint8_t *at = bytes, *const end = at + done;

	if (!space->agent || !space->agent->probes.count)
		return done;
	for (uint64_t back = AGENT_JUMP - 1; back; back--)
		take_out_at(space, address - back, address, bytes, done);
	for (uint8_t opcode = jump_opcode(space);
	     at < end && (at = memchr(at, opcode, (size_t)(end - at))); at++)
		for (uint64_t fillers = 0; fillers < AGENT_JUMP - 1; fillers++)
			take_out_at(space, address + (uint64_t)(at - (uint8_t *)bytes) - fillers,
				    address, bytes, done);
	return done;
}

bool agent_has_jump(const struct space *space, uint64_t address)
{
	const struct agent_probe *probe = map_get(&space->agent->probes, address);
	const struct journal_entry *entry = probe ? journal_entry(space->journal, probe->journal)
						  : NULL;

	return entry && entry->kind == JOURNAL_JUMP && entry->address == address;
}
