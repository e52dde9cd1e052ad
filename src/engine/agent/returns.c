/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * True return addresses.
 *
 * A call that is pending has, where its return address was, the stub of a return slot, and that
 * notes what was there. Slots of calls that were left by a jump or an exception stay in use until
 * the same place on the stack is used again; they are known by the place not holding the stub any
 * more. A function that was jumped to by another traced one has that one's stub for a return
 * address: then one place has two slots, of one unit or two (a call is caught at a PLT stub and at
 * the function, in another library), and the true address is in the second.
 *
 * Who is about to look at a stack (an exception's unwinder, a backtrace, a core dump, a debugger
 * after us) must find the true ones. They are written there, and the calls, whose returns are seen
 * no more by the stubs, are given to the trap engine.
 *
 * The slots come from the tracee: nothing in them is believed but that a stub stands at its place.
 */
#include "engine/agent/private.h"
#include "engine/agent/rings_abi.h"
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

static bool is_claimable(uint64_t owner, uint64_t place, bool tail_call)
{
	return !owner || owner == place + AGENT_SLOT_RESTS || (owner == place && !tail_call);
}

bool return_slot_is_there(const struct space *space, const struct agent_unit *unit, uint64_t place,
			  bool tail_call)
{
	uint32_t home = agent_slot_hash(place);
	uint64_t owners[1 + AGENT_SLOT_TRIES];
	struct memory_range ranges[1 + AGENT_SLOT_TRIES];

	for (uint32_t i = 0; i <= AGENT_SLOT_TRIES; i++) {
		uint32_t number = home;

		if (i)
			number = AGENT_HOME_COUNT | ((home + i - 1) & (AGENT_HOME_COUNT - 1));
		ranges[i] = (struct memory_range){.address = unit->base + AGENT_SLOTS +
							     (uint64_t)number * AGENT_SLOT,
						  .buffer = &owners[i],
						  .length = sizeof owners[i]};
	}
	space->memory.readv(space->memory.context, ranges, 1 + AGENT_SLOT_TRIES);
	for (uint32_t i = 0; i <= AGENT_SLOT_TRIES; i++)
		if (ranges[i].done < sizeof owners[i] || is_claimable(owners[i], place, tail_call))
			return true;
	return false;
}

/* Those of all units. */
struct all_slots {
	struct vec units; /* struct return_slots *, owned */
	bool whole;	  /* none could not be read */
};

static void read_unit(const struct space *space, uint64_t base, struct all_slots *all)
{
	struct return_slots *slots = return_slots_read(space, base);

	all->whole &= slots != NULL;
	if (slots)
		vec_push(&all->units, &slots);
}

static void free_all(struct all_slots *all)
{
	for (size_t i = 0; i < all->units.count; i++)
		free(*(struct return_slots **)vec_at(&all->units, i));
	vec_deinit(&all->units);
}

static const struct return_slot *find_slot(const struct all_slots *all, uint64_t word,
					   uint64_t place)
{
	const struct return_slot *found = NULL;

	for (size_t i = 0; i < all->units.count && !found; i++)
		found = return_slot_of(*(struct return_slots **)vec_at(&all->units, i), word,
				       place);
	return found;
}

/* Puts the true return address at `place`, if a stub stands there: false if that cannot be done. */
static bool put_back(struct space *space, const struct all_slots *all, uint64_t place)
{
	uint64_t word;

	if (!memory_read_word(&space->memory, place, sizeof word, &word))
		return true;
	const struct return_slot *slot = find_slot(all, word, place);

	if (!slot)
		return true;
	for (int i = 0; slot && i < CHAIN_MAX; i++) {
		word = slot->return_address;
		slot = find_slot(all, word, place);
	}
	return !slot && space_write(space, place, &word, sizeof word) == 0;
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
 * Else the tracer that was killed had put all back, and begun to unmap: the entry of a mapping is
 * there a little longer than the mapping.
 */
static bool has_slots(const struct space *space, uint64_t base)
{
	return journal_has_mapping(space->journal, base + AGENT_SLOTS) &&
	       is_mapped(space, base + AGENT_SLOTS);
}

static bool restore_unit(struct space *space, const struct all_slots *all,
			 const struct return_slots *unit)
{
	bool done = true;

	for (size_t i = 0; i < AGENT_SLOT_COUNT; i++)
		if (return_slot_in_use(&unit->slots[i]))
			done &= put_back(space, all, unit->slots[i].place);
	return done;
}

void agent_undo_jumps(struct space *space, bool unwinders_too)
{
	journal_undo_jumps(space->journal, space, unwinders_too);
}

void agent_restore_returns(struct space *space)
{
	struct all_slots all = {VEC_OF(struct return_slots *), true};

	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (agent_is_unit(entry) && has_slots(space, entry->address))
			read_unit(space, entry->address, &all);
	}
	bool done = all.whole;

	for (size_t i = 0; i < all.units.count; i++)
		done &= restore_unit(space, &all, *(struct return_slots **)vec_at(&all.units, i));
	free_all(&all);
	if (!done)
		arena_forget_regions(space->arena);
}

/* ------------------------------------------------------------------ one stack */

struct handing {
	struct agent *agent;
	struct thread *thread;
	const struct agent_unit *unit;
	uint64_t low; /* the stack, from the thread's pointer up */
	double ns;    /* of a unit of the clock; 0: not read so far, nor has anything been told */
	uint64_t clock, time;
};

/* What the process has kept of the entry of the call that has that stub; false: nothing. */
static bool read_saved(const struct space *space, uint64_t stub, struct capture_saved *saved)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (!agent_is_unit(entry))
			continue;
		uint64_t number = return_slot_number(entry->address, stub);

		if (number < AGENT_SLOT_COUNT)
			return memory_read_exact(&space->memory,
						 entry->address + AGENT_SAVED +
							 number * AGENT_SAVED_BYTES,
						 saved, sizeof *saved);
	}
	return false;
}

void returns_untold(struct agent *agent, struct thread *thread, uint64_t place, uint64_t stub,
		    uint64_t return_address)
{
	const struct told told = {.place = place, .stub = stub, .return_address = return_address};
	struct capture_saved saved;
	bool is_known = read_saved(thread->process->space, stub, &saved);

	trap_untold(agent->trap, thread, &told, is_known ? &saved : NULL);
}

static void take_over(const struct handing *handing, const struct return_slot *slot, uint64_t stub,
		      uint64_t return_address)
{
	const struct agent_unit *unit = handing->unit;
	uint64_t number = slot->probe;

	if (handing->agent->records) {
		returns_untold(handing->agent, handing->thread, slot->place, stub, return_address);
		return;
	}
	if (number >= unit->probes_used || !unit->probes[number] || !unit->probes[number]->site)
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
		standing->number = return_slot_number(standing->unit->base, stub);
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
	agent_fetch(handing->agent, handing->thread->process->inferior, false);
	const struct agent_moment now = agent_now_measured(handing->agent, &handing->ns);

	handing->clock = now.clock;
	handing->time = now.time;
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

/* Gives the calls that return from `place` to the trap engine, if a stub stands there. */
static void hand_over_place(struct handing *handing, uint64_t place)
{
	struct space *space = handing->thread->process->space;
	struct standing chain[CHAIN_MAX];
	uint64_t word;
	size_t count;

	if (!memory_read_word(&space->memory, place, sizeof word, &word))
		return;
	uint64_t caller = follow_standing(space, word, place, chain, &count);

	if (!caller || space_write(space, place, &caller, sizeof caller) != 0)
		return;
	if (!handing->ns)
		read_handing_clock(handing);
	hand_over_chain(handing, chain, count, caller);
}

/*
 * Whether memory is over there; or it is some that nobody provides (userfaultfd), and the stack
 * goes on behind it.
 */
static bool is_stack_end(struct thread *thread, uint64_t address)
{
	struct maps maps;

	if (thread->stack_end == address)
		return true;
	if (maps_read(thread->tid, &maps) != 0)
		return false;
	const struct mapping *next = maps_find(&maps, address);
	bool is_end = maps_find(&maps, address - 1) && !(next && next->readable);

	maps_deinit(&maps);
	if (is_end)
		thread->stack_end = address;
	return is_end;
}

size_t returns_read_stack(struct thread *thread, uint64_t low, uint64_t *words, size_t most,
			  bool *whole)
{
	const struct memory_source *memory = &thread->process->space->memory;
	const uint64_t known = thread->stack_end - low;
	const size_t wanted = thread->stack_end > low && known < most ? known : most;
	const size_t length = memory_read(memory, low, words, wanted);

	*whole = length < most && is_stack_end(thread, low + length);
	return length;
}

/*
 * What is on the stack near its pointer, word by word. False: there is more of the stack than that.
 */
static bool hand_over_near(struct handing *handing)
{
	const struct space *space = handing->thread->process->space;
	uint64_t *words = xmalloc(STACK_NEAR);
	bool whole;
	size_t length = returns_read_stack(handing->thread, handing->low, words, STACK_NEAR,
					   &whole);

	for (size_t i = 0; i < length / sizeof *words; i++)
		if (agent_is_stub(space->agent, words[i]))
			hand_over_place(handing, handing->low + i * sizeof *words);
	free(words);
	return whole;
}

/* All of it, by the slots: there are fewer of them than words on a large stack. */
static void hand_over_unit(struct handing *handing, const struct agent_unit *unit, uint64_t high)
{
	struct return_slots *slots = return_slots_read(handing->thread->process->space, unit->base);

	for (size_t i = 0; slots && i < AGENT_SLOT_COUNT; i++) {
		const struct return_slot *slot = &slots->slots[i];

		if (return_slot_in_use(slot) && slot->place >= handing->low && slot->place < high)
			hand_over_place(handing, slot->place);
	}
	free(slots);
}

static void hand_over_far(struct handing *handing)
{
	const struct agent_space *own = handing->thread->process->space->agent;
	struct maps maps;

	if (maps_read(handing->thread->tid, &maps) != 0)
		return;
	const struct mapping *mapping = maps_find(&maps, handing->low);

	for (size_t i = 0; mapping && i < own->units.count; i++)
		hand_over_unit(handing, *(struct agent_unit **)vec_at(&own->units, i),
			       mapping->end);
	maps_deinit(&maps);
}

void agent_hand_over(struct agent *agent, struct thread *thread)
{
	const struct agent_space *own = thread->process->space->agent;
	struct handing handing = {.agent = agent, .thread = thread};
	struct regs regs;

	if (!own || !own->units.count || regs_load(thread->tid, &regs) != 0)
		return;
	handing.low = regs.r[REG_SP] & ~UINT64_C(7);
	if (!hand_over_near(&handing))
		hand_over_far(&handing);
}
