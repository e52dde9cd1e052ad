/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes jumps out, and punned jumps in time: some of their bytes belong to the function behind
 * (jump_islands.c).
 *
 * Before one of these bytes changes, the punned jump is removed, and its function gets a
 * breakpoint. The bytes change when a jump is written there or removed, and when a breakpoint is
 * planted there that the punned jump was not made for. This is rare: functions behind are decided
 * on first, and most breakpoints are planted before the agent patches anything.
 */
#include "engine/agent/kept.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/got_calls.h"
#include "engine/agent/unwinding.h"
#include "tracee/journal.h"
#include "tracee/journal_undo.h"
#include "tracee/memory_batch.h"

enum { PAGE = 4096 };

/* Returns true if [low, high) contains bytes of the probe's jump that must not change. */
static bool needs_bytes(const struct agent_probe *probe, uint64_t low, uint64_t high)
{
	return probe->jump.span > probe->jump.length && low < probe->address + probe->jump.span &&
	       high > probe->address + probe->jump.length;
}

/* Returns true if the jump leads to the stub both with and without a breakpoint at `address`. */
static bool is_made_for_trap(const struct agent_probe *probe, uint64_t address)
{
	return probe->jump.traps >> (address - probe->address) & 1;
}

/*
 * The journal must not forget a jump before it is out of the memory, nor may the bytes behind it
 * change before that. So it is written at once, outside of the current batch.
 */
static void give_up(struct thread *thread, struct agent_probe *probe)
{
	struct space *space = thread->process->space;
	const bool gathers = memory_batch_is_on(space);

	if (gathers)
		memory_batch_pause(space);
	probe_give_up(thread, probe, "what stands right behind it has changed");
	if (gathers)
		memory_batch_go_on(space);
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

void probe_give_up(struct thread *thread, struct agent_probe *probe, const char *reason)
{
	struct space *space = thread->process->space;
	struct agent *agent = probe->unit->agent;

	/* The jump may have been removed already. */
	if (!agent_has_jump(space, probe->address))
		return;
	agent_stop_others(thread); /* a thread that does not stop is in the kernel */
	kept_make_way(thread, probe->address, probe->address + probe->jump.length);
	journal_undo_bytes(space->journal, space, probe->journal);
	probe->journal = JOURNAL_NO_ENTRY;
	candidate_plant(agent->trap, thread, &probe->candidate);
	unwinding_update(space);
	agent_decide(agent, probe->site, reason);
}

/* For breakpoints of the trap engine. */
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
 * If the tracer is killed between two writes, threads run with what has been written. A page is
 * written at once, so only bytes in another page have to be written before the jump.
 */
void kept_settle(struct space *space, uint64_t address, const struct entry_jump *jump)
{
	if (address / PAGE == (address + jump->span - 1) / PAGE || !memory_batch_is_on(space))
		return;
	memory_batch_pause(space);
	memory_batch_go_on(space);
}
