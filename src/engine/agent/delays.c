/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the tracer's time off the durations of counted calls.
 *
 * A call that is counted in the process is timed there, from its entry to its return. It includes
 * the stops of its thread, at calls inside it that are caught by breakpoints; each stop takes a
 * hundred times as long as the functions do. So, while the thread is stopped, the time of entry of
 * each pending call is moved forward by what the stop takes. The trap engine does this for its own
 * calls (thread->calls->cost).
 *
 * The calls are found by their return trampolines on the stack, from the stack pointer up, piece by
 * piece, until a piece has none: reading all of the stack would make each stop longer. Calls
 * further away keep the tracer's time. A trampoline's record is used if its place is right; it is
 * memory of the thread, and a wrong number only makes a wrong sum.
 */
#include "engine/agent/delays.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/clock.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/return_trampolines.h"
#include "engine/agent/unit.h"
#include "tracee/clock.h"
#include "tracee/space.h"

enum { CALLS_MAX = 256, STACK_PIECE = 16384 };

/* A call whose return trampoline is on the stack, or is the return address of such a call. */
struct delayed_call {
	uint64_t at, place;
	struct return_trampoline slot;
};

struct delayed_calls {
	const struct agent_space *own;
	uint64_t low, high; /* all return trampolines are in [low, high) */
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
		uint64_t number = return_trampoline_number(unit->base, word);

		delayed->calls[delayed->count++] = (struct delayed_call){
			.at = unit->base + AGENT_TRAMPOLINES + number * AGENT_TRAMPOLINE,
			.place = place};
	}
}

/* Reads the records of the calls from `first` on; adds calls that they were tail-called from. */
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

/* Returns true if this piece of the stack has trampolines, and the stack continues behind it. */
static bool find_in_piece(struct thread *thread, uint64_t low, struct delayed_calls *delayed)
{
	uint64_t words[STACK_PIECE / sizeof(uint64_t)];
	const size_t before = delayed->count;
	bool whole;
	size_t count = return_addresses_read_stack(thread, low, words, sizeof words, &whole) /
		       sizeof *words;

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
		ranges[count++] = (struct memory_range){.address = call->at + AGENT_TRAMPOLINE_TIME,
							.buffer = &call->slot.time,
							.length = sizeof call->slot.time};
	}
	space_write_words(space, ranges, count);
}

void agent_delayed(const struct agent *agent, struct thread *thread, uint64_t sp, uint64_t time,
		   uint64_t more)
{
	struct space *space = thread->process->space;
	struct delayed_calls delayed; /* not zeroed: it is large, and needed at each stop */

	if (agent->records || !space->agent || !space->agent->units.count)
		return;
	delayed.own = space->agent;
	delayed.count = 0;
	find_calls(thread, sp, &delayed);
	if (!delayed.count)
		return;
	move_entries(space, &delayed, agent_clock_units(agent, clock_now() - time + more));
}
