/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps of which some bytes are those of the function behind (detours.c).
 *
 * Such a jump is taken out before one of these bytes changes, and its function gets a breakpoint:
 * before a jump is written there, or taken out, and before a breakpoint is planted there that the
 * jump was not made for. That is rare: what stands behind is decided on first, and most of what is
 * planted is planted before anything is caught inside.
 */
#include "engine/agent/private.h"

#include "inferior/gather.h"
#include "inferior/journal.h"

enum { PAGE = 4096 };

bool agent_has_jump(const struct space *space, uint64_t address)
{
	const struct agent_probe *probe = map_get(&space->agent->probes, address);
	const struct journal_entry *entry = probe ? journal_entry(space->journal, probe->journal)
						  : NULL;

	return entry && entry->kind == JOURNAL_JUMP && entry->address == address;
}

/* Whether bytes in [low, high) are among those that stay in the jump of the probe. */
static bool needs_bytes(const struct agent_probe *probe, uint64_t low, uint64_t high)
{
	return probe->jump.span > probe->jump.length && low < probe->address + probe->jump.span &&
	       high > probe->address + probe->jump.length;
}

/* Whether the jump leads to the stub with a breakpoint at `address`, and without. */
static bool is_made_for_trap(const struct agent_probe *probe, uint64_t address)
{
	return probe->jump.traps >> (address - probe->address) & 1;
}

/*
 * The journal must not forget a jump before it is out of the memory, nor may the bytes behind
 * change before that: so it is written at once.
 */
static void give_up(struct thread *thread, struct agent_probe *probe)
{
	struct space *space = thread->process->space;
	const bool gathers = gather_is_on(space);

	if (gathers)
		gather_pause(space);
	guards_give_up(thread, probe, "what stands right behind it has changed");
	if (gathers)
		gather_go_on(space);
}

static void make_way(struct thread *thread, uint64_t low, uint64_t high, bool is_trap)
{
	const struct space *space = thread->process->space;

	for (uint64_t back = 1; back < AGENT_SPAN_MAX; back++) {
		struct agent_probe *probe = map_get(&space->agent->probes, low - back);

		if (probe && agent_has_jump(space, low - back) && needs_bytes(probe, low, high) &&
		    !(is_trap && is_made_for_trap(probe, low)))
			give_up(thread, probe);
	}
}

void kept_make_way(struct thread *thread, uint64_t low, uint64_t high)
{
	make_way(thread, low, high, false);
}

/* Of the trap engine. */
static void make_way_for_trap(struct thread *thread, uint64_t address, size_t length)
{
	if (thread->process->space->agent)
		make_way(thread, address, address + length, true);
}

void kept_watch(struct space *space)
{
	trap_watch_planting(space, make_way_for_trap);
}

/*
 * If we are killed between two writes, threads run with what is there by then. A page is written at
 * once, so only bytes in another page have to be there before.
 */
void kept_settle(struct space *space, uint64_t address, const struct entry_jump *jump)
{
	if (address / PAGE == (address + jump->span - 1) / PAGE || !gather_is_on(space))
		return;
	gather_pause(space);
	gather_go_on(space);
}
