/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the records of return trampolines: see return_trampolines.h. */
#include "engine/agent/return_trampolines.h"

#include "base/xalloc.h"
#include "engine/agent/rings_abi.h"

#include <stddef.h>
#include <stdlib.h>

_Static_assert(sizeof(struct return_trampoline) == AGENT_TRAMPOLINE, "shared layout");
_Static_assert(offsetof(struct return_trampoline, place) == AGENT_TRAMPOLINE_PLACE,
	       "shared layout");
_Static_assert(offsetof(struct return_trampoline, return_address) == AGENT_TRAMPOLINE_RETURN,
	       "shared layout");
_Static_assert(offsetof(struct return_trampoline, time) == AGENT_TRAMPOLINE_TIME, "shared layout");
_Static_assert(offsetof(struct return_trampoline, probe) == AGENT_TRAMPOLINE_PROBE,
	       "shared layout");

struct return_trampolines *return_trampolines_read(const struct space *space, uint64_t base)
{
	struct return_trampolines *slots = xmalloc(sizeof *slots);

	slots->unit = base;
	if (memory_read_pages(&space->memory, base + AGENT_TRAMPOLINES, slots->slots,
			      sizeof slots->slots) == sizeof slots->slots)
		return slots;
	free(slots);
	return NULL;
}

const struct return_trampoline *return_trampoline_of(const struct return_trampolines *slots,
						     uint64_t word, uint64_t place)
{
	uint64_t offset = word - (slots->unit + AGENT_RETURN_STUBS);

	if (offset >= (uint64_t)AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB ||
	    offset % AGENT_RETURN_STUB)
		return NULL;
	const struct return_trampoline *slot = &slots->slots[offset / AGENT_RETURN_STUB];

	return slot->place == place ? slot : NULL;
}

static bool is_claimable(uint64_t owner, uint64_t place, bool tail_call)
{
	return !owner || owner == place + AGENT_TRAMPOLINE_RESTS || (owner == place && !tail_call);
}

bool return_trampoline_is_there(const struct space *space, const struct agent_unit *unit,
				uint64_t place, bool tail_call)
{
	uint32_t home = agent_trampoline_hash(place);
	uint64_t owners[1 + AGENT_TRAMPOLINE_TRIES];
	struct memory_range ranges[1 + AGENT_TRAMPOLINE_TRIES];

	for (uint32_t i = 0; i <= AGENT_TRAMPOLINE_TRIES; i++) {
		uint32_t number = home;

		if (i)
			number = AGENT_HOME_COUNT | ((home + i - 1) & (AGENT_HOME_COUNT - 1));
		ranges[i] = (struct memory_range){.address = unit->base + AGENT_TRAMPOLINES +
							     (uint64_t)number * AGENT_TRAMPOLINE,
						  .buffer = &owners[i],
						  .length = sizeof owners[i]};
	}
	space->memory.readv(space->memory.context, ranges, 1 + AGENT_TRAMPOLINE_TRIES);
	for (uint32_t i = 0; i <= AGENT_TRAMPOLINE_TRIES; i++)
		if (ranges[i].done < sizeof owners[i] || is_claimable(owners[i], place, tail_call))
			return true;
	return false;
}
