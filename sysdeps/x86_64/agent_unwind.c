/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions in the tracee without a stop: see engine/agent/unwinding_abi.h. agent_services.S calls
 * this when a function of libgcc is entered that unwinds, and when a personality routine says where
 * to continue (_Unwind_SetIP()). Like agent_record.c, this must not fault, wait, or make system
 * calls. It reads and writes the thread's own stack, and no other memory of the program.
 *
 * If a signal handler throws and catches while the thread unwinds, the inner unwinder is deeper on
 * the stack, and gets a group of lifted trampolines of its own. If a group's unwinder is not on the
 * stack any more, because it found no handler or was left by a jump, the group is dropped: the
 * returns of these calls are not seen.
 *
 * What cannot be handled here (the thread does not know the bounds of its stack, there are too many
 * trampolines) goes to the breakpoint in the probe stub.
 */
#include "engine/agent/unwinding_abi.h"
#include "x86_64/agent_process.h"

#include <stdbool.h>
#include <stddef.h>

enum { DI = 7, WORD = 8, CHAIN_MAX = 64 };

uint64_t agent_unwinding_begins(struct frame *frame);
uint64_t agent_unwinding_lands(struct frame *frame);

static const struct unwinding_head *head_of_unit(void)
{
	return (const struct unwinding_head *)(void *)(base + AGENT_UNWINDING);
}

static struct unwinding_thread *find_thread(void)
{
	const uint64_t thread = read_thread();
	uint32_t number = unwinding_hash(thread);

	for (unsigned i = 0; i < UNWINDING_TRIES; i++, number++) {
		struct unwinding_thread *entry =
			(void *)(base + AGENT_UNWINDING + unwinding_offset(number));

		if (entry->base == thread)
			return thread ? entry : NULL;
	}
	return NULL;
}

static inline uint64_t *word_at(uint64_t place)
{
	return (uint64_t *)place;
}

/* Does nothing if the word has changed, as on a stack that another thread runs on. */
static void exchange(uint64_t place, uint64_t from, uint64_t to)
{
	__atomic_compare_exchange_n(word_at(place), &from, to, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* A return trampoline, and its record, which may belong to another place by now. */
struct found_stub {
	struct return_trampoline *slot; /* NULL: not found */
	bool is_home;
};

static struct found_stub find_stub(const struct unwinding_head *head, uint64_t word)
{
	for (uint64_t i = 0; i < head->unit_count && i < UNWINDING_UNITS; i++) {
		const uint64_t offset = word - (head->units[i] + AGENT_RETURN_STUBS);
		const uint64_t number = offset / AGENT_RETURN_STUB;
		struct return_trampoline *slots = (void *)(head->units[i] + AGENT_TRAMPOLINES);

		if (number < AGENT_TRAMPOLINE_COUNT && offset % AGENT_RETURN_STUB == 0)
			return (struct found_stub){&slots[number], number < AGENT_HOME_COUNT};
	}
	return (struct found_stub){NULL, false};
}

static bool is_stub(const struct unwinding_head *head, uint64_t word)
{
	return find_stub(head, word).slot;
}

/* Like find_stub(), for a trampoline whose record has this place. */
static struct found_stub find_slot(const struct unwinding_head *head, uint64_t word, uint64_t place)
{
	const struct found_stub found = find_stub(head, word);

	return found.slot && found.slot->place == place ? found : (struct found_stub){NULL, false};
}

/* The return address that the trampoline replaces, through those of tail calls; 0: none there. */
static uint64_t true_address(const struct unwinding_head *head, uint64_t stub, uint64_t place)
{
	const struct return_trampoline *slot = find_slot(head, stub, place).slot;
	uint64_t word = 0;

	for (unsigned i = 0; slot && i < CHAIN_MAX; i++) {
		word = slot->return_address;
		slot = find_slot(head, word, place).slot;
	}
	return slot || is_stub(head, word) ? 0 : word;
}

/*
 * The calls that return by the lifted trampoline are over: frees their trampolines as after
 * returns, unless another call has used the stack word since.
 */
static void leave_slots(const struct unwinding_head *head, const struct unwinding_lift *lift)
{
	const uint64_t place = lift->place;
	uint64_t stub = lift->stub;

	if (is_stub(head, *word_at(place)))
		return;
	for (unsigned i = 0; i < CHAIN_MAX; i++) {
		const struct found_stub found = find_slot(head, stub, place);

		if (!found.slot)
			break;
		stub = found.slot->return_address;
		__atomic_store_n(&found.slot->place,
				 found.is_home ? place + AGENT_TRAMPOLINE_RESTS : 0,
				 __ATOMIC_RELEASE);
	}
}

/*
 * Puts back the lifts from index `first` on that are at `from` or above; the other calls were left.
 */
static void put_back(const struct unwinding_head *head, struct unwinding_thread *thread,
		     uint64_t first, uint64_t from)
{
	for (uint64_t i = first; i < thread->count && i < UNWINDING_LIFTS; i++) {
		const struct unwinding_lift *lift = &thread->lifts[i];
		const uint64_t address = lift->place >= from
						 ? true_address(head, lift->stub, lift->place)
						 : 0;

		if (lift->place < from)
			leave_slots(head, lift);
		else if (address)
			exchange(lift->place, address, lift->stub);
	}
	thread->count = first;
}

/*
 * Returns true if the function entered at `sp` was called by an unwinder that has lifted already.
 */
static bool is_inner(const struct unwinding_head *head, const struct unwinding_thread *thread,
		     uint64_t sp)
{
	const uint64_t word = *word_at(sp);
	const uint64_t address = is_stub(head, word) ? true_address(head, word, sp) : word;

	return thread->group_count &&
	       address - head->outer_low < head->outer_high - head->outer_low;
}

/* Returns false if there is no room for another. */
static bool lift_one(const struct unwinding_head *head, struct unwinding_thread *thread,
		     uint64_t place)
{
	const uint64_t word = *word_at(place);
	const uint64_t address = true_address(head, word, place);

	if (!address)
		return true;
	if (thread->count >= UNWINDING_LIFTS)
		return false;
	thread->lifts[thread->count++] = (struct unwinding_lift){place, word};
	exchange(place, word, address);
	return true;
}

/*
 * The first place in [place, high) that may hold a trampoline of the unit, else `high`. Stacks are
 * long, and this loop is most of the cost of unwinding.
 */
static uint64_t find_place(uint64_t stubs, uint64_t place, uint64_t high)
{
	while (place < high &&
	       *word_at(place) - stubs >= AGENT_TRAMPOLINE_COUNT * AGENT_RETURN_STUB)
		place += WORD;
	return place;
}

/* Returns false if there are too many trampolines; they are not changed then. */
static bool lift(const struct unwinding_head *head, struct unwinding_thread *thread, uint64_t sp)
{
	const uint64_t first = thread->count, high = thread->high;
	const bool inner = is_inner(head, thread, sp);
	bool has_room = inner || thread->group_count < UNWINDING_GROUPS;

	for (uint64_t i = 0; has_room && i < head->unit_count && i < UNWINDING_UNITS; i++) {
		const uint64_t stubs = head->units[i] + AGENT_RETURN_STUBS;
		uint64_t place = find_place(stubs, sp, high);

		while (has_room && place < high) {
			has_room = lift_one(head, thread, place);
			place = find_place(stubs, place + WORD, high);
		}
	}
	if (!has_room)
		put_back(head, thread, first, sp);
	else if (!inner)
		thread->groups[thread->group_count++] = (struct unwinding_group){sp, first};
	return has_room;
}

/* Drops groups whose unwinders have been left, as the stack pointer is above them. */
static void drop_groups(const struct unwinding_head *head, struct unwinding_thread *thread,
			uint64_t sp)
{
	while (thread->group_count && thread->groups[thread->group_count - 1].sp < sp)
		put_back(head, thread, thread->groups[--thread->group_count].first, UINT64_MAX);
}

static bool claim(const struct unwinding_thread *thread, uint64_t sp)
{
	return thread && !thread->busy && sp >= thread->low && sp < thread->high && sp % WORD == 0;
}

static void set_busy(struct unwinding_thread *thread, uint64_t busy)
{
	__atomic_store_n(&thread->busy, busy, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static uint64_t stub_of(const struct frame *frame)
{
	return (uint64_t)(base + AGENT_PROBE_STUBS) + frame->number * AGENT_PROBE_STUB;
}

/* Returns where the thread continues. */
uint64_t agent_unwinding_begins(struct frame *frame)
{
	const struct unwinding_head *head = head_of_unit();
	const uint64_t sp = (uint64_t)&frame->return_address;
	struct unwinding_thread *thread = head->on ? find_thread() : NULL;
	bool done = false;

	if (claim(thread, sp)) {
		set_busy(thread, 1);
		drop_groups(head, thread, sp + 1);
		done = lift(head, thread, sp);
		set_busy(thread, 0);
	}
	return stub_of(frame) + (done ? AGENT_PROBE_DISPLACED : AGENT_PROBE_BREAKPOINT);
}

/*
 * At _Unwind_SetIP(context, address): the context's frame is where the program continues. Its CFA
 * is what the stack pointer will be.
 */
uint64_t agent_unwinding_lands(struct frame *frame)
{
	const struct unwinding_head *head = head_of_unit();
	const uint64_t sp = (uint64_t)&frame->return_address;
	const uint64_t context = frame->gpr[DI];
	struct unwinding_thread *thread = find_thread();

	if (claim(thread, sp) && context > sp && context + head->cfa_offset < thread->high) {
		set_busy(thread, 1);
		drop_groups(head, thread, sp);
		if (thread->group_count) {
			const uint64_t cfa = *word_at(context + head->cfa_offset);

			put_back(head, thread, thread->groups[--thread->group_count].first, cfa);
		}
		set_busy(thread, 0);
	}
	return stub_of(frame) + AGENT_PROBE_DISPLACED;
}
