/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * True return addresses.
 *
 * A pending call has the stub of a return trampoline in place of its return address; the
 * trampoline's record has the true one. The trampoline of a call that was left by a jump or an
 * exception stays in use until its stack word is used for another call; it is recognised by the
 * stack word, which does not hold its stub any more. If a traced function was tail-called by
 * another traced function, its return address is the other one's stub. So one stack word may have
 * two trampolines, of one unit or of two (if a call is caught at a PLT stub and at the function, in
 * another library); the second has the true address.
 *
 * Code that inspects a stack (an exception's unwinder, a backtrace, a core dump, a debugger that
 * attaches later) must find the true addresses. They are put back on the stack, and the trap engine
 * takes over the calls, whose returns the stubs do not see any more.
 *
 * The records are read from the tracee: they are used only for a stub that is at the record's
 * place.
 */
#include "engine/agent/return_addresses.h"

#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/clock.h"
#include "engine/agent/return_trampolines.h"
#include "engine/agent/ring_drain.h"
#include "engine/agent/rings_abi.h"
#include "engine/agent/unit.h"
#include "engine/core/callstack.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/return_takeover.h"
#include "tracee/arena.h"
#include "tracee/journal.h"
#include "tracee/journal_undo.h"
#include "tracee/maps.h"
#include "tracee/space.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 64 }; /* tail calls in a row */

/* The trampoline records of all units. */
struct all_slots {
	struct vec units; /* struct return_trampolines *, owned */
	bool whole;	  /* the records of all units were readable */
};

static void read_unit(const struct space *space, uint64_t base, struct all_slots *all)
{
	struct return_trampolines *slots = return_trampolines_read(space, base);

	all->whole &= slots != NULL;
	if (slots)
		vec_push(&all->units, &slots);
}

static void free_all(struct all_slots *all)
{
	for (size_t i = 0; i < all->units.count; i++)
		free(*(struct return_trampolines **)vec_at(&all->units, i));
	vec_deinit(&all->units);
}

static const struct return_trampoline *find_slot(const struct all_slots *all, uint64_t word,
						 uint64_t place)
{
	const struct return_trampoline *found = NULL;

	for (size_t i = 0; i < all->units.count && !found; i++)
		found = return_trampoline_of(*(struct return_trampolines **)vec_at(&all->units, i),
					     word, place);
	return found;
}

/* Puts the true return address back at `place`, if a stub is there. Returns false on failure. */
static bool put_back(struct space *space, const struct all_slots *all, uint64_t place)
{
	uint64_t word;

	if (!memory_read_word(&space->memory, place, sizeof word, &word))
		return true;
	const struct return_trampoline *slot = find_slot(all, word, place);

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
 * If false, the tracer that was killed had put all return addresses back, and begun to unmap: the
 * journal entry outlives the mapping for a moment.
 */
static bool has_slots(const struct space *space, uint64_t base)
{
	return journal_has_mapping(space->journal, base + AGENT_TRAMPOLINES) &&
	       is_mapped(space, base + AGENT_TRAMPOLINES);
}

static bool restore_unit(struct space *space, const struct all_slots *all,
			 const struct return_trampolines *unit)
{
	bool done = true;

	for (size_t i = 0; i < AGENT_TRAMPOLINE_COUNT; i++)
		if (return_trampoline_in_use(&unit->slots[i]))
			done &= put_back(space, all, unit->slots[i].place);
	return done;
}

void agent_undo_jumps(struct space *space, bool unwinders_too)
{
	journal_undo_jumps(space->journal, space, unwinders_too);
}

void agent_restore_returns(struct space *space)
{
	struct all_slots all = {VEC_OF(struct return_trampolines *), true};

	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (agent_is_unit(entry) && has_slots(space, entry->address))
			read_unit(space, entry->address, &all);
	}
	bool done = all.whole;

	for (size_t i = 0; i < all.units.count; i++)
		done &= restore_unit(space, &all,
				     *(struct return_trampolines **)vec_at(&all.units, i));
	free_all(&all);
	if (!done)
		arena_forget_regions(space->arena);
}

/* ------------------------------------------------------------------ one stack */

struct handing {
	struct agent *agent;
	struct thread *thread;
	const struct agent_unit *unit;
	uint64_t low; /* the thread's stack pointer */
	double ns;    /* ns per unit of the clock; 0: clocks not read and rings not drained yet */
	uint64_t clock, time;
};

/* Reads what the process has kept of the call that returns by this stub; false: nothing. */
static bool read_saved(const struct space *space, uint64_t stub, struct capture_saved *saved)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (!agent_is_unit(entry))
			continue;
		uint64_t number = return_trampoline_number(entry->address, stub);

		if (number < AGENT_TRAMPOLINE_COUNT)
			return memory_read_exact(&space->memory,
						 entry->address + AGENT_SAVED +
							 number * AGENT_SAVED_BYTES,
						 saved, sizeof *saved);
	}
	return false;
}

/*
 * A recorded call's true return address is back on the stack: if the call is pending, the trap
 * engine will see its return. Must be called before the memory of its unit is unmapped.
 */
static void tell_restored(struct agent *agent, struct thread *thread, uint64_t place, uint64_t stub,
			  uint64_t return_address)
{
	struct restored_return restored = {
		.place = place, .stub = stub, .return_address = return_address};
	struct capture_saved saved;

	if (read_saved(thread->process->space, stub, &saved))
		restored.saved = &saved;
	trap_return_restored(agent->trap, thread, &restored);
}

static void take_over(const struct handing *handing, const struct return_trampoline *slot,
		      uint64_t stub, uint64_t return_address)
{
	const struct agent_unit *unit = handing->unit;
	uint64_t number = slot->probe;

	if (handing->agent->records) {
		tell_restored(handing->agent, handing->thread, slot->place, stub, return_address);
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

/* The trampoline of a stub that is at a stack word. */
struct standing {
	const struct agent_unit *unit;
	uint64_t number;
	struct return_trampoline slot;
};

static bool find_standing(const struct space *space, uint64_t stub, uint64_t place,
			  struct standing *standing)
{
	for (size_t i = 0; i < space->agent->units.count; i++) {
		standing->unit = *(struct agent_unit **)vec_at(&space->agent->units, i);
		if (!unit_is_return_stub(standing->unit, stub))
			continue;
		standing->number = return_trampoline_number(standing->unit->base, stub);
		return memory_read_exact(&space->memory,
					 standing->unit->base + AGENT_TRAMPOLINES +
						 standing->number * AGENT_TRAMPOLINE,
					 &standing->slot, sizeof standing->slot) &&
		       standing->slot.place == place;
	}
	return false;
}

/* Fills `chain` with the tail calls that return from `place`. Returns the true address, or 0. */
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
		space_write(space, base + AGENT_TRAMPOLINES + chain[i].number * AGENT_TRAMPOLINE,
			    &nothing, sizeof nothing);
	}
}

static void read_handing_clock(struct handing *handing)
{
	agent_drain_rings(handing->agent, handing->thread->process->tracees, false);
	const struct clock_sample now = agent_now_measured(handing->agent, &handing->ns);

	handing->clock = now.clock;
	handing->time = now.time;
}

bool agent_find_return(const struct space *space, uint64_t place, uint64_t word, uint64_t *address)
{
	struct standing chain[CHAIN_MAX];
	size_t count;

	if (!space->agent || !agent_is_stub(space->agent, word))
		return false;
	*address = follow_standing(space, word, place, chain, &count);
	return *address != 0;
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

void return_addresses_give_up(const struct agent_unit *unit, struct thread *thread,
			      const struct regs *regs)
{
	struct space *space = thread->process->space;
	struct handing handing = {.agent = unit->agent, .thread = thread};
	struct standing chain[CHAIN_MAX];
	uint64_t place = regs->r[REG_SP];
	uint64_t number;
	size_t count;

	if (!memory_read_word(&space->memory, place, sizeof number, &number) ||
	    number >= AGENT_TRAMPOLINE_COUNT)
		return;
	uint64_t slot = unit->base + AGENT_TRAMPOLINES + number * AGENT_TRAMPOLINE;
	uint64_t stub = unit->base + AGENT_RETURN_STUBS + number * AGENT_RETURN_STUB;
	uint64_t word = follow_standing(space, stub, place, chain, &count);

	/* The thread goes there when it leaves the agent's code, and frees the trampoline. */
	if (!word || space_write(space, slot + AGENT_TRAMPOLINE_RETURN, &word, sizeof word) != 0)
		return;
	hand_over_chain(&handing, chain, count, word);
	space_write(space, slot, &place, sizeof place);
}

/* Gives the calls that return from `place` to the trap engine, if a return trampoline is there. */
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
 * Returns true if the stack ends at `address`: unreadable memory behind it is its end, but a page
 * that nobody provides (userfaultfd) is not.
 */
static bool is_stack_end(struct thread *thread, uint64_t address)
{
	struct maps maps;

	if (thread->agent->stack_end == address)
		return true;
	if (maps_read(thread->tid, &maps) != 0)
		return false;
	const struct mapping *next = maps_find(&maps, address);
	bool is_end = maps_find(&maps, address - 1) && !(next && next->readable);

	maps_deinit(&maps);
	if (is_end)
		thread->agent->stack_end = address;
	return is_end;
}

size_t return_addresses_read_stack(struct thread *thread, uint64_t low, uint64_t *words,
				   size_t most, bool *whole)
{
	const struct memory_source *memory = &thread->process->space->memory;
	const uint64_t known = thread->agent->stack_end - low;
	const size_t wanted = thread->agent->stack_end > low && known < most ? known : most;
	const size_t length = memory_read(memory, low, words, wanted);

	*whole = length < most && is_stack_end(thread, low + length);
	return length;
}

/* Checks each word of the stack near its pointer. Returns false if the stack is larger. */
static bool hand_over_near(struct handing *handing)
{
	const struct space *space = handing->thread->process->space;
	uint64_t *words = xmalloc(STACK_NEAR);
	bool whole;
	size_t length = return_addresses_read_stack(handing->thread, handing->low, words,
						    STACK_NEAR, &whole);

	for (size_t i = 0; i < length / sizeof *words; i++)
		if (agent_is_stub(space->agent, words[i]))
			hand_over_place(handing, handing->low + i * sizeof *words);
	free(words);
	return whole;
}

/*
 * Checks the rest of the stack by the records, as a large stack has more words than a unit records.
 */
static void hand_over_unit(struct handing *handing, const struct agent_unit *unit, uint64_t high)
{
	struct return_trampolines *slots = return_trampolines_read(handing->thread->process->space,
								   unit->base);

	for (size_t i = 0; slots && i < AGENT_TRAMPOLINE_COUNT; i++) {
		const struct return_trampoline *slot = &slots->slots[i];

		if (return_trampoline_in_use(slot) && slot->place >= handing->low &&
		    slot->place < high)
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

/* ------------------------------------------------------------------ forked children */

static void note_told(void *context, const struct call *call)
{
	if (call->in_process)
		vec_push(context, call);
}

void return_addresses_take_over(struct agent *agent, struct thread *thread)
{
	const struct memory_source *memory = &thread->process->space->memory;
	struct vec reported = VEC_OF(struct call);
	uint64_t word;

	if (thread->calls->stacks)
		callstacks_each(thread->calls->stacks, note_told, &reported);
	for (size_t i = 0; i < reported.count; i++) {
		const struct call *call = vec_at(&reported, i);

		if (memory_read_word(memory, call->place, sizeof word, &word))
			tell_restored(agent, thread, call->place, call->return_address, word);
	}
	vec_deinit(&reported);
}
