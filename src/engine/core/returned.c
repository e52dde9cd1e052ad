/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pending call has returned.
 *
 * When a thread arrives at return address R with stack pointer sp, the call that returned has
 * return address R, and its stack word is right below sp.
 *
 * A function may pop its arguments itself (`ret $N`: struct results, stdcall and Pascal
 * conventions on i386, hand-written code on x86-64). Then its stack word is N bytes further down.
 * The callee's `ret` has read R from that word, and its arguments are between the word and sp: so
 * the word is the nearest one below sp that holds R. A function that pops nothing leaves R in the
 * very nearest word, so its return is never taken for that of an older call, which may be pending
 * on another stack in the same memory. Hand-written code may also pop R and a few arguments, and
 * push R again for its `ret`: then both words hold R. Where the stack cannot be read (that of a
 * goroutine, which moves), the function is taken to pop no arguments.
 */
#include "engine/core/returned.h"

#include "engine/core/sample.h"

#include <stdlib.h>
#include <string.h>

enum {
	ARGUMENTS_MAX = UINT16_MAX, /* bytes that a function may pop (`ret $N`) */
	MOVED_MAX = 64, /* bytes that it may pop when it moves its return address itself */
	PIECE = 256	/* bytes of a stack that are searched at a time */
};

uint64_t returned_word(const struct call *call)
{
	return call->covered ? call->covered : call->return_address;
}

bool returned_is_intact(const struct callstacks *stacks, const struct call *call)
{
	uint64_t word = returned_word(call);

	if (stacks->view && stacks->view->words && !stacks->batch)
		stacks->view->words(stacks->context, 1, &call->place, &word);
	return word == returned_word(call);
}

size_t returned_alike(const struct callstacks *stacks, const struct stack *stack, size_t found)
{
	const struct call first = *stack_call(stack, found);
	struct sample *now = sample_take(stacks->view, stacks->context, first.place);
	size_t most = 0;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);
		size_t alike = call->place == first.place &&
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

/*
 * Returns the index of the oldest call at stack word `slot` that returns to where the thread is;
 * the number of calls if there is none.
 */
static size_t find_in_slot(const struct stack *stack, const struct arrival *arrival, uint64_t slot)
{
	size_t found = stack->calls.count;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);

		if (stack->single && call->place > slot)
			break;
		if (call->place == slot && call->return_address == arrival->pc &&
		    call->in_process == arrival->in_process)
			found = i;
	}
	return found;
}

/*
 * Returns the address of the nearest word below sp, down to `low`, that holds `pc`; 0 if there is
 * none.
 */
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

/* Returns true if `call` may have returned and popped at most `most` bytes of arguments. */
static bool may_have_returned(const struct call *call, const struct arrival *arrival, uint64_t most)
{
	return call->return_address == arrival->pc && !call->in_process &&
	       call->place < arrival->sp && arrival->sp - call->place <= arrival->word + most;
}

/*
 * Returns the stack word of the call that has returned; 0 if none has. If memory does not tell,
 * because a signal handler has run there or because the call was left, returns the highest
 * possible one.
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

		if (stack->single && call->place >= arrival->sp)
			break;
		if (!may_have_returned(call, arrival, most))
			continue;
		if (call->arrived)
			return call->place;
		if (!highest || call->place > highest->place)
			highest = call;
		if (call->place < lowest)
			lowest = call->place;
	}
	if (!highest)
		return 0;
	if (!has_memory)
		return highest->place;
	if (highest->place + arrival->word == arrival->sp &&
	    (lowest == highest->place || returned_is_intact(stacks, highest)))
		return highest->place;
	uint64_t nearest = find_word(stacks, arrival, lowest);

	if (nearest && nearest != highest->place && nearest - highest->place <= MOVED_MAX &&
	    find_in_slot(stack, arrival, nearest) == stack->calls.count)
		return highest->place;
	return nearest ? nearest : highest->place;
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
		found--; /* this one made a tail call to the one found */
	return found;
}
