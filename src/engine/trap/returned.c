/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pending call has returned.
 *
 * When a thread arrives at return address R with stack pointer sp, the call that returned is the
 * one with return address R whose slot lies right below sp.
 *
 * A function may take its arguments off the stack itself (`ret $N`: struct results, stdcall and
 * Pascal's conventions on i386, hand-written code on x86-64). Then its slot lies N bytes further
 * down. The callee's `ret` has read R from that slot, and its arguments are what lies between: the
 * slot that is meant is the nearest word below sp that holds R. A function that takes nothing off
 * leaves R in the very nearest word, so its return is never taken for that of an older call, which
 * may be pending on another stack in the same memory. Hand-written code may also pop R and a few
 * arguments, and push R again for its `ret`: then R is in both places. Where the stack cannot be
 * read (that of a goroutine, which moves) nothing is taken off.
 */
#include "engine/trap/returned.h"

#include "engine/trap/sample.h"

#include <stdlib.h>
#include <string.h>

enum {
	ARGUMENTS_MAX = UINT16_MAX, /* bytes that a function may take off the stack (`ret $N`) */
	MOVED_MAX = 64,		    /* of them, where it moves its return address by hand */
	PIECE = 256		    /* bytes of a stack that are looked through at a time */
};

uint64_t returned_word(const struct call *call)
{
	return call->covered ? call->covered : call->return_address;
}

bool returned_is_intact(const struct callstacks *stacks, const struct call *call)
{
	uint64_t word = returned_word(call);

	if (stacks->view && stacks->view->words && !stacks->moment)
		stacks->view->words(stacks->context, 1, &call->slot, &word);
	return word == returned_word(call);
}

size_t returned_alike(const struct callstacks *stacks, const struct stack *stack, size_t found)
{
	const struct call first = *stack_call(stack, found);
	struct sample *now = sample_take(stacks->view, stacks->context, first.slot);
	size_t most = 0;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);
		size_t alike = call->slot == first.slot &&
					       call->return_address == first.return_address
				       ? sample_likeness(call->sample, now)
				       : 0;

		if (alike > most) {
			most = alike;
			found = i;
		}
	}
	free(now);
	return found;
}

/* The oldest call in `slot` that returns to where the thread is; count when there is none. */
static size_t find_in_slot(const struct stack *stack, const struct arrival *arrival, uint64_t slot)
{
	size_t found = stack->calls.count;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);

		if (stack->single && call->slot > slot)
			break;
		if (call->slot == slot && call->return_address == arrival->pc &&
		    call->in_process == arrival->in_process)
			found = i;
	}
	return found;
}

/* The place of the nearest word below the stack pointer that holds `pc`, down to `low`; else 0. */
static uint64_t find_word(const struct callstacks *stacks, const struct arrival *arrival,
			  uint64_t low)
{
	unsigned char piece[PIECE];
	uint64_t at = arrival->sp;

	while (at - low >= arrival->word) {
		size_t length = at - low < PIECE ? (size_t)(at - low) : PIECE;

		length -= length % arrival->word;
		at -= length;
		if (stacks->view->read(stacks->context, at, piece, length) != length)
			return 0;
		for (size_t i = length; i > 0; i -= arrival->word) {
			uint64_t word = 0; /* little-endian, as the tracee's */

			memcpy(&word, piece + i - arrival->word, arrival->word);
			if (word == arrival->pc)
				return at + i - arrival->word;
		}
	}
	return 0;
}

/* Whether a call may be the one that has returned, and has taken off `most` bytes at most. */
static bool may_have_returned(const struct call *call, const struct arrival *arrival, uint64_t most)
{
	return call->return_address == arrival->pc && !call->in_process &&
	       call->slot < arrival->sp && arrival->sp - call->slot <= arrival->word + most;
}

/*
 * The slot of the call that has returned; 0: of none. Where memory does not tell (any more), the
 * highest one that may be meant: a signal handler has run there, or the call was left.
 */
static uint64_t find_slot(const struct callstacks *stacks, const struct stack *stack,
			  const struct arrival *arrival)
{
	const bool has_memory = stacks->view && stacks->view->read;
	const uint64_t most = has_memory && !arrival->exact ? ARGUMENTS_MAX : 0;
	const struct call *highest = NULL;
	uint64_t lowest = arrival->sp;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);

		if (stack->single && call->slot >= arrival->sp)
			break;
		if (!may_have_returned(call, arrival, most))
			continue;
		if (call->arrived)
			return call->slot;
		if (!highest || call->slot > highest->slot)
			highest = call;
		if (call->slot < lowest)
			lowest = call->slot;
	}
	if (!highest)
		return 0;
	if (!has_memory)
		return highest->slot;
	if (highest->slot + arrival->word == arrival->sp &&
	    (lowest == highest->slot || returned_is_intact(stacks, highest)))
		return highest->slot;
	uint64_t nearest = find_word(stacks, arrival, lowest);

	if (nearest && nearest != highest->slot && nearest - highest->slot <= MOVED_MAX &&
	    find_in_slot(stack, arrival, nearest) == stack->calls.count)
		return highest->slot;
	return nearest ? nearest : highest->slot;
}

size_t returned_find(const struct callstacks *stacks, const struct stack *stack,
		     const struct arrival *arrival)
{
	uint64_t slot = arrival->in_process ? arrival->sp - arrival->word
					    : find_slot(stacks, stack, arrival);
	size_t found = find_in_slot(stack, arrival, slot);

	if (!stacks->exchanged || found == stack->calls.count)
		return found;
	found = returned_alike(stacks, stack, found);
	while (found &&
	       sample_equal(stack_call(stack, found - 1)->sample, stack_call(stack, found)->sample))
		found--; /* it made a tail call */
	return found;
}
