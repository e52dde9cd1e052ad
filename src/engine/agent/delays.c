/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our time in the durations of counted calls.
 *
 * A call that is counted in the process is timed there, from its entry to its return, and knows
 * nothing of the stops that its thread makes in between, at calls within it that are caught by
 * breakpoints. Each is a hundred times what the functions take. So, while the thread stands, the
 * time of entry of those calls is moved by what the stop takes; as the trap engine does with the
 * calls that are its own (thread->cost).
 *
 * The calls are found by their stubs on the stack, from its pointer up, piece by piece until there
 * is none in one: to read all of it would make each stop longer. What is further away keeps our
 * time. A slot is believed if it says that its stub stands where it does; all this is memory of the
 * thread's own, and a wrong number makes a wrong sum.
 */
#include "engine/agent/private.h"

enum { CALLS_MAX = 256, STACK_PIECE = 16384 };

/* A return slot whose stub is on the stack, or the return address of another such slot. */
struct delayed_call {
	uint64_t at, place;
	struct return_slot slot;
};

struct delayed_calls {
	const struct agent_space *own;
	uint64_t low, high; /* no return stub is elsewhere */
	size_t count;
	struct delayed_call calls[CALLS_MAX];
};

static void add_call(struct delayed_calls *delayed, uint64_t word, uint64_t place)
{
	for (size_t i = 0; i < delayed->own->units.count && delayed->count < CALLS_MAX; i++) {
		const struct agent_unit *unit = *(struct agent_unit **)vec_at(&delayed->own->units,
									      i);

		if (!unit_is_return_stub(unit, word))
			continue;
		uint64_t number = return_slot_number(unit->base, word);

		delayed->calls[delayed->count++] = (struct delayed_call){
			.at = unit->base + AGENT_SLOTS + number * AGENT_SLOT, .place = place};
	}
}

/* Reads the slots of those from `first` on, and adds what returns by a stub from the same place. */
static void read_slots(const struct space *space, struct delayed_calls *delayed, size_t first)
{
	struct memory_range ranges[CALLS_MAX];
	const size_t end = delayed->count;

	for (size_t i = first; i < end; i++)
		ranges[i - first] = (struct memory_range){
			.address = delayed->calls[i].at,
			.buffer = &delayed->calls[i].slot,
			.length = sizeof delayed->calls[i].slot,
		};
	space->memory.readv(space->memory.context, ranges, end - first);
	for (size_t i = first; i < end; i++) {
		struct delayed_call *call = &delayed->calls[i];

		if (ranges[i - first].done < sizeof call->slot || call->slot.place != call->place)
			call->at = 0;
		else
			add_call(delayed, call->slot.return_address, call->place);
	}
}

static void find_bounds(struct delayed_calls *delayed)
{
	delayed->low = UINT64_MAX;
	delayed->high = 0;
	for (size_t i = 0; i < delayed->own->units.count; i++) {
		const struct agent_unit *unit = *(struct agent_unit **)vec_at(&delayed->own->units,
									      i);

		if (unit->base < delayed->low)
			delayed->low = unit->base;
		if (unit->base + AGENT_TEXT_BYTES > delayed->high)
			delayed->high = unit->base + AGENT_TEXT_BYTES;
	}
}

/* Whether there are any in a piece of the stack, and more of it behind that. */
static bool find_in_piece(struct thread *thread, uint64_t low, struct delayed_calls *delayed)
{
	uint64_t words[STACK_PIECE / sizeof(uint64_t)];
	const size_t before = delayed->count;
	bool whole;
	size_t count = returns_read_stack(thread, low, words, sizeof words, &whole) / sizeof *words;

	for (size_t i = 0; i < count && delayed->count < CALLS_MAX; i++)
		if (words[i] - delayed->low < delayed->high - delayed->low)
			add_call(delayed, words[i], low + i * sizeof *words);
	return delayed->count > before && count * sizeof *words == sizeof words;
}

static void find_calls(struct thread *thread, uint64_t sp, struct delayed_calls *delayed)
{
	uint64_t at = sp & ~UINT64_C(7);
	const uint64_t end = at + STACK_NEAR;

	find_bounds(delayed);
	while (at < end && find_in_piece(thread, at, delayed))
		at += STACK_PIECE;
	for (size_t first = 0; first < delayed->count;) {
		size_t known = delayed->count;

		read_slots(thread->process->space, delayed, first);
		first = known;
	}
}

static void move_entries(struct space *space, struct delayed_calls *delayed, uint64_t later)
{
	struct memory_range ranges[CALLS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < delayed->count; i++) {
		struct delayed_call *call = &delayed->calls[i];

		if (!call->at)
			continue;
		call->slot.time += later;
		ranges[count++] = (struct memory_range){.address = call->at + AGENT_SLOT_TIME,
							.buffer = &call->slot.time,
							.length = sizeof call->slot.time};
	}
	space_write_words(space, ranges, count);
}

void agent_delayed(const struct agent *agent, struct thread *thread, uint64_t sp, uint64_t time,
		   uint64_t more)
{
	struct space *space = thread->process->space;
	struct delayed_calls delayed; /* large, and asked for at each stop: not filled with zeros */

	if (agent->records || !space->agent || !space->agent->units.count)
		return;
	delayed.own = space->agent;
	delayed.count = 0;
	find_calls(thread, sp, &delayed);
	if (!delayed.count)
		return;
	move_entries(space, &delayed, agent_clock_units(agent, inferior_clock() - time + more));
}
