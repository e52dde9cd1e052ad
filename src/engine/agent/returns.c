/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * True return addresses.
 *
 * A call that is pending has, where its return address was, the stub of a return slot, and that notes what was
 * there. Slots of calls that were left by a jump or an exception stay in use until the same place on the stack is
 * used again; they are known by the place not holding the stub any more. A function that was jumped to by another traced
 * one has that one's stub for a return address: then one place has two slots, and the true address is in the second.
 *
 * Who is about to look at a stack (an exception's unwinder, a backtrace, a core dump, a debugger after us) must find the
 * true ones. They are written there, and the calls, whose returns are seen no more by the stubs, are given to the trap
 * engine.
 *
 * The slots come from the tracee: nothing in them is believed but that a stub stands at its place.
 */
#include "engine/agent/private.h"
#include "engine/trap/told.h"

#include "base/xalloc.h"
#include "inferior/arena.h"
#include "inferior/journal.h"
#include "inferior/maps.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct return_slot) == AGENT_SLOT, "shared layout");
_Static_assert(offsetof(struct return_slot, place) == AGENT_SLOT_PLACE, "shared layout");
_Static_assert(offsetof(struct return_slot, return_address) == AGENT_SLOT_RETURN, "shared layout");
_Static_assert(offsetof(struct return_slot, time) == AGENT_SLOT_TIME, "shared layout");
_Static_assert(offsetof(struct return_slot, probe) == AGENT_SLOT_PROBE, "shared layout");

enum { CHAIN_MAX = 64 }; /* tail calls, one from the other */

struct return_slots *return_slots_read(const struct space *space, uint64_t base)
{
	struct return_slots *slots = xmalloc(sizeof *slots);

	slots->unit = base;
	if (memory_read_pages(&space->memory, base + AGENT_SLOTS, slots->slots,
			      sizeof slots->slots) == sizeof slots->slots)
		return slots;
	free(slots);
	return NULL;
}

const struct return_slot *return_slot_of(const struct return_slots *slots, uint64_t word,
					 uint64_t place)
{
	uint64_t offset = word - (slots->unit + AGENT_RETURN_STUBS);

	if (offset >= (uint64_t)AGENT_SLOT_COUNT * AGENT_RETURN_STUB || offset % AGENT_RETURN_STUB)
		return NULL;
	const struct return_slot *slot = &slots->slots[offset / AGENT_RETURN_STUB];

	return slot->place == place ? slot : NULL;
}

/* The calls that return from one place, the one that was made last first. */
struct chain {
	const struct return_slot *slots[CHAIN_MAX];
	size_t count;
	uint64_t return_address; /* the true one */
};

/* False when no stub stands at `place`. */
static bool follow(const struct space *space, const struct return_slots *slots, uint64_t place,
		   struct chain *chain)
{
	uint64_t word;

	chain->count = 0;
	if (!memory_read_word(&space->memory, place, sizeof word, &word))
		return false;
	const struct return_slot *slot = return_slot_of(slots, word, place);

	while (slot && chain->count < CHAIN_MAX) {
		chain->slots[chain->count++] = slot;
		word = slot->return_address;
		slot = return_slot_of(slots, word, place);
	}
	chain->return_address = word;
	return chain->count && !slot;
}

static bool put_back(struct space *space, uint64_t place, const struct chain *chain)
{
	return space_write(space, place, &chain->return_address, sizeof chain->return_address) == 0;
}

static bool is_mapped(const struct space *space, uint64_t address)
{
	struct maps maps;

	if (maps_read(journal_subject(space->journal)->pid, &maps) != 0)
		return true;
	bool found = maps_find(&maps, address) != NULL;

	maps_deinit(&maps);
	return found;
}

/*
 * Else the tracer that was killed had put all back, and begun to unmap: the entry of a mapping is there a little longer than
 * the mapping.
 */
static bool has_slots(const struct space *space, uint64_t base)
{
	return journal_has_mapping(space->journal, base + AGENT_SLOTS) &&
	       is_mapped(space, base + AGENT_SLOTS);
}

/* Whether none of its stubs stands on a stack any more. */
static bool restore_unit(struct space *space, uint64_t base)
{
	if (!has_slots(space, base))
		return true;
	struct return_slots *slots = return_slots_read(space, base);
	bool all = true;

	for (size_t i = 0; slots && i < AGENT_SLOT_COUNT; i++) {
		uint64_t place = slots->slots[i].place;
		struct chain chain;

		if (place && follow(space, slots, place, &chain))
			all &= put_back(space, place, &chain);
		else if (place && chain.count)
			all = false;
	}
	free(slots);
	return slots && all;
}

void agent_undo_jumps(struct space *space)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_JUMP)
			journal_undo_bytes(space->journal, space, i);
	}
}

void agent_restore_returns(struct space *space)
{
	bool all = true;

	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_AGENT)
			all &= restore_unit(space, entry->address);
	}
	if (!all)
		arena_forget_regions(space->arena);
}

/* ------------------------------------------------------------------ one stack */

struct handing {
	struct agent *agent;
	struct thread *thread;
	const struct agent_unit *unit;
	uint64_t low, high; /* the stack, from the thread's pointer up */
	double ns;	    /* of a unit of the clock */
	uint64_t clock, time;
};

static void take_over(const struct handing *handing, const struct return_slot *slot, uint64_t stub,
		      uint64_t return_address)
{
	const struct agent_unit *unit = handing->unit;
	uint64_t number = slot->probe;

	if (handing->agent->records) {
		trap_untold(handing->agent->trap, handing->thread, slot->place, stub,
			    return_address);
		return;
	}
	if (number >= unit->probes_used || !unit->probes[number])
		return;
	uint64_t ago = slot->time < handing->clock
			       ? (uint64_t)((double)(handing->clock - slot->time) * handing->ns)
			       : 0;
	const struct running_call running = {.place = slot->place,
					     .return_address = return_address,
					     .start = ago < handing->time ? handing->time - ago : 0,
					     .site = unit->probes[number]->site};

	trap_take_over(handing->agent->trap, handing->thread, &running);
}

static uint64_t stub_of(const struct return_slots *slots, const struct return_slot *slot)
{
	return slots->unit + AGENT_RETURN_STUBS +
	       (uint64_t)(slot - slots->slots) * AGENT_RETURN_STUB;
}

static void free_slot(struct space *space, const struct return_slots *slots,
		      const struct return_slot *slot)
{
	static const uint64_t nothing;
	uint64_t number = (uint64_t)(slot - slots->slots);

	space_write(space, slots->unit + AGENT_SLOTS + number * AGENT_SLOT + AGENT_SLOT_PLACE,
		    &nothing, sizeof nothing);
}

static void hand_over_unit(const struct handing *handing)
{
	struct space *space = handing->thread->process->space;
	struct return_slots *slots = return_slots_read(space, handing->unit->base);
	struct chain chain;

	for (size_t i = 0; slots && i < AGENT_SLOT_COUNT; i++) {
		uint64_t place = slots->slots[i].place;

		if (place < handing->low || place >= handing->high ||
		    !follow(space, slots, place, &chain) || !put_back(space, place, &chain))
			continue;
		for (size_t k = chain.count; k-- > 0;) {
			take_over(handing, chain.slots[k], stub_of(slots, chain.slots[k]),
				  chain.return_address);
			free_slot(space, slots, chain.slots[k]);
		}
	}
	free(slots);
}

/* The rest of the mapping that the thread's stack is in. */
static bool find_stack(const struct thread *thread, struct handing *handing)
{
	struct regs regs;
	struct maps maps;

	if (regs_load(thread->tid, &regs) != 0 || maps_read(thread->tid, &maps) != 0)
		return false;
	const struct mapping *mapping = maps_find(&maps, regs.r[REG_SP]);

	handing->low = regs.r[REG_SP];
	handing->high = mapping ? mapping->end : 0;
	maps_deinit(&maps);
	return handing->high != 0;
}

/* A slot that a stub at `place` stands for. */
struct standing {
	const struct agent_unit *unit;
	uint64_t number;
	struct return_slot slot;
};

static bool find_standing(const struct space *space, uint64_t stub, uint64_t place,
			  struct standing *standing)
{
	for (size_t i = 0; i < space->agent->units.count; i++) {
		standing->unit = *(struct agent_unit **)vec_at(&space->agent->units, i);
		if (!unit_is_return_stub(standing->unit, stub))
			continue;
		standing->number = (stub - standing->unit->base - AGENT_RETURN_STUBS) /
				   AGENT_RETURN_STUB;
		return memory_read_exact(&space->memory,
					 standing->unit->base + AGENT_SLOTS +
						 standing->number * AGENT_SLOT,
					 &standing->slot, sizeof standing->slot) &&
		       standing->slot.place == place;
	}
	return false;
}

/* Those of the calls that return from one place, by tail calls; the true return address, or 0. */
static uint64_t follow_standing(const struct space *space, uint64_t word, uint64_t place,
				struct standing chain[CHAIN_MAX], size_t *count)
{
	*count = 0;
	while (*count < CHAIN_MAX && find_standing(space, word, place, &chain[*count]))
		word = chain[(*count)++].slot.return_address;
	return *count && !agent_is_stub(space->agent, word) ? word : 0;
}

static void hand_over_chain(struct handing *handing, const struct standing *chain, size_t count,
			    uint64_t return_address)
{
	struct space *space = handing->thread->process->space;
	static const uint64_t nothing;

	for (size_t i = count; i-- > 0;) {
		uint64_t base = chain[i].unit->base;

		handing->unit = chain[i].unit;
		take_over(handing, &chain[i].slot,
			  base + AGENT_RETURN_STUBS + chain[i].number * AGENT_RETURN_STUB,
			  return_address);
		space_write(space, base + AGENT_SLOTS + chain[i].number * AGENT_SLOT, &nothing,
			    sizeof nothing);
	}
}

static void read_handing_clock(struct handing *handing)
{
	agent_fetch(handing->agent, handing->thread->process->inferior);
	handing->clock = handing->agent->host->clock();
	handing->time = inferior_clock();
	handing->ns = agent_ns(handing->agent);
}

uint64_t agent_show_caller(struct agent *agent, struct thread *thread, uint64_t place,
			   uint64_t word)
{
	struct space *space = thread->process->space;
	struct handing handing = {.agent = agent, .thread = thread};
	struct standing chain[CHAIN_MAX];
	size_t count;

	if (!space->agent || !agent_is_stub(space->agent, word))
		return word;
	uint64_t caller = follow_standing(space, word, place, chain, &count);

	if (!caller || space_write(space, place, &caller, sizeof caller) != 0)
		return word;
	read_handing_clock(&handing);
	hand_over_chain(&handing, chain, count, caller);
	return caller;
}

void returns_give_up(const struct agent_unit *unit, struct thread *thread, const struct regs *regs)
{
	struct space *space = thread->process->space;
	struct handing handing = {.agent = unit->agent, .thread = thread};
	struct standing chain[CHAIN_MAX];
	uint64_t place = regs->r[REG_SP];
	uint64_t number;
	size_t count;

	if (!memory_read_word(&space->memory, place, sizeof number, &number) ||
	    number >= AGENT_SLOT_COUNT)
		return;
	uint64_t slot = unit->base + AGENT_SLOTS + number * AGENT_SLOT;
	uint64_t stub = unit->base + AGENT_RETURN_STUBS + number * AGENT_RETURN_STUB;
	uint64_t word = follow_standing(space, stub, place, chain, &count);

	/* There the thread goes when it is through, and frees the slot. */
	if (!word || space_write(space, slot + AGENT_SLOT_RETURN, &word, sizeof word) != 0)
		return;
	hand_over_chain(&handing, chain, count, word);
	space_write(space, slot, &place, sizeof place);
}

void agent_hand_over(struct agent *agent, struct thread *thread)
{
	struct agent_space *own = thread->process->space->agent;
	struct handing handing = {.agent = agent, .thread = thread};

	if (!own || !own->units.count || !find_stack(thread, &handing))
		return;
	read_handing_clock(&handing);
	for (size_t i = 0; i < own->units.count; i++) {
		handing.unit = *(struct agent_unit **)vec_at(&own->units, i);
		hand_over_unit(&handing);
	}
}
