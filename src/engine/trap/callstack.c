/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pending calls.
 *
 * A call is known by two things: the stack slot that holds its return address, and that
 * address (returned.c). Recursion gives many calls with the same return address and different
 * slots; a tail call gives several with the same slot and the same return address, which all return
 * at once.
 *
 * Calls are also left without returning: longjmp, C++ exceptions, thread cancellation. Nothing
 * tells us. But a stack is a stack: once the thread is seen with sp above a call's slot, that
 * call is over. So every push and every return first drops what lies deeper. Two cases need
 * more. One is setjmp, call f, longjmp out of f, call f again, which finds the old f pending at
 * the very slot of the new one. The same function twice at one slot is a repeated call, not a
 * tail call, and the old one is dropped; where nothing can leave calls but longjmp, which is told,
 * and the caller's registers are as they were, it is a tail call in a circle (f, g, f). (A
 * destructor that an exception runs may go deeper than the call that was left: that call's slot no
 * longer holds its return address.)
 *
 * The other is a handler that goes on behind the very call that was left: `try { f(); } catch
 * (...) {}`, `if (!setjmp(b)) f();`. The thread arrives at the return address with the sp of a
 * return. A real return leaves that address in the slot, just below sp, where no signal handler of
 * x86_64 may write (i386: callstacks_interrupted()). A handler of an exception has called functions
 * from the frame that caught it, which wrote their own return addresses there. longjmp has not, and
 * is told by its caller (callstacks_jump()).
 *
 * All this holds within one stack; a thread may have several (stackset.c). Where they cannot be
 * kept apart, only an exact match of slot and return address is trusted, and calls are dropped when
 * their slot is used again or no longer holds their return address.
 *
 * Some runtimes have many stacks at one place (Python's greenlets, Ruby's continuations): what a
 * suspended one has on the stack is copied away, and copied back before it goes on. Then a call
 * may be pending whose slot holds something else at the moment, and several may have the same
 * slot and return address. Which one returns is told by what stands above the slot (sample.h).
 */
#include "engine/trap/callstack.h"

#include "engine/trap/returned.h"
#include "engine/trap/sample.h"
#include "engine/trap/stackset.h"

#include <stdlib.h>

enum {
	FOREIGN_MAX = 16384,  /* calls kept on a stack whose order means nothing */
	CIRCLE_MAX = 64,      /* calls of one function at one slot, one jumped to by the other */
	INNER_CHECKS = 8,     /* innermost calls looked at whether their slots were used again */
	NEAR = 16384,	      /* bytes: a call so close above another is on the same stack */
	FUNCTION_MAX = 16384, /* bytes of code between a setjmp() and a call behind it */
	JUMP_MAX = 262144 /* bytes: who jumps farther within a mapping changes to another stack */
};

/* ------------------------------------------------------------------ calls that are over */

/*
 * Whether what lies deeper than where the thread is seen is over. Not where that is told later of a
 * thread that may have run a handler on a signal stack in the midst of its own: nobody can be asked
 * any more.
 */
static bool is_ordered(const struct callstacks *stacks, const struct stack *stack)
{
	return stack->single && !(stacks->moment && stacks->signalled);
}

/* Whether a pending call is over, now that `call` is made. */
static bool is_over(const struct callstacks *stacks, const struct stack *stack,
		    const struct call *pending, const struct call *call)
{
	if (pending->slot < call->slot)
		return is_ordered(stacks, stack);
	if (pending->slot != call->slot)
		return false;
	/*
	 * A stub stands for one call; what it found in the slot is that of the call it is a tail
	 * call from. Of one without a stub that is as well where the next call returns to, if it
	 * was left by an exception: the same function hardly ends by itself.
	 */
	if (call->in_process)
		return returned_word(pending) != call->caller ||
		       (!pending->in_process && pending->entry == call->entry);
	if (stacks->exchanged && (pending->return_address != call->return_address ||
				  !sample_equal(pending->sample, call->sample)))
		return false;
	/* A hook and a site at one place make two calls of each call. */
	return pending->return_address != call->return_address ||
	       (pending->entry == call->entry && pending->hook == call->hook &&
		!(call->preserved && pending->preserved == call->preserved));
}

/*
 * What the slot of a pending call should hold. What is told later may have returned meanwhile, and
 * what it has covered may be uncovered; but the return of any other call would have stopped the
 * thread.
 */
static uint64_t expected_word(const struct callstacks *stacks, const struct call *call)
{
	return stacks->moment && (call->in_process || call->covered) ? 0 : returned_word(call);
}

/* Whether it is worth it to look at what slots hold: once, of all that is told at one moment. */
static bool may_look(const struct callstacks *stacks, struct stack *stack)
{
	if (!stacks->view || !stacks->view->words)
		return false;
	bool known = stacks->moment && stack->looked == stacks->moment;

	stack->looked = stacks->moment;
	return !known;
}

/*
 * Drops calls whose slots have been used again, of the latest ones. In order, such a call takes
 * those inside it along, whatever their slots hold.
 */
static void drop_overwritten(struct callstacks *stacks, struct stack *stack, call_popped *popped,
			     void *context)
{
	size_t limit = stack->single ? INNER_CHECKS : STACK_VIEW_WORDS;
	size_t count = stack->calls.count < limit ? stack->calls.count : limit;
	size_t first = stack->calls.count - count;
	uint64_t slots[STACK_VIEW_WORDS];
	uint64_t words[STACK_VIEW_WORDS];
	bool over = false;

	if (!count || stacks->exchanged || !may_look(stacks, stack))
		return;
	for (size_t i = 0; i < count; i++) {
		slots[i] = stack_call(stack, first + i)->slot;
		words[i] = expected_word(stacks, stack_call(stack, first + i));
	}
	stacks->view->words(stacks->context, count, slots, words);
	for (size_t i = 0; i < count; i++) {
		const struct call *call = stack_call(stack, first + i);
		uint64_t expected = expected_word(stacks, call);

		over = (over && stack->single && (expected || !stacks->moment)) ||
		       (expected && words[i] != expected);
		slots[i] = over;
	}
	for (size_t i = count; i-- > 0;)
		if (slots[i])
			stackset_pop(stacks, stack, first + i, false, popped, context);
}

/* The oldest call that is over takes what was made from it along. */
static void drop_over(struct callstacks *stacks, struct stack *stack, const struct call *call,
		      call_popped *popped, void *context)
{
	size_t first = stack->calls.count;

	for (size_t i = first; i-- > 0;) {
		if (is_ordered(stacks, stack) && stack_call(stack, i)->slot > call->slot)
			break;
		if (is_over(stacks, stack, stack_call(stack, i), call))
			first = i;
	}
	for (size_t i = stack->calls.count; i-- > first;)
		if (is_ordered(stacks, stack) ||
		    (stack_call(stack, i)->slot == call->slot &&
		     (!stacks->exchanged || is_over(stacks, stack, stack_call(stack, i), call))))
			stackset_pop(stacks, stack, i, false, popped, context);
	drop_overwritten(stacks, stack, popped, context);
	if (stack->calls.count >= FOREIGN_MAX && !stack->single)
		stackset_pop(stacks, stack, 0, false, popped, context);
}

/*
 * How many calls with a site are around `made`, which is about to be pushed. Where the order of a
 * stack means nothing, that is told by the one closest above.
 */
static size_t depth_at(const struct callstacks *stacks, const struct stack *stack,
		       const struct call *made)
{
	const struct call *around = NULL;
	size_t index = 0;

	if (stack->single)
		return stack->sites;
	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);

		if (call->slot < made->slot || (around && call->slot >= around->slot))
			continue;
		if (stacks->exchanged
			    ? call->slot == made->slot && !sample_equal(call->sample, made->sample)
			    : call->slot - made->slot > NEAR)
			continue;
		if (!returned_is_intact(stacks, call))
			continue;
		around = call;
		index = i;
	}
	if (around && stacks->exchanged)
		around = stack_call(stack, returned_alike(stacks, stack, index));
	return around ? around->depth + (around->site != NULL) : 0;
}

/* Of those that `made` is a tail call from, which may have a stub as their return address. */
static void cover(struct stack *stack, struct call *made)
{
	made->origin = made->in_process ? made->caller : made->return_address;
	for (size_t i = stack->calls.count; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->slot != made->slot)
			continue;
		if (call->in_process && call->return_address == made->origin)
			made->origin = call->origin;
		if (made->in_process)
			call->covered = made->return_address;
	}
}

/* A call has returned by its stub: what it was a tail call from has its own back. */
static void uncover(struct stack *stack, uint64_t slot)
{
	uint64_t word = 0;

	for (size_t i = stack->calls.count; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->slot != slot)
			continue;
		call->covered = word;
		if (call->in_process && !word)
			word = call->return_address;
	}
}

/* ------------------------------------------------------------------ what happens to a thread */

/* As a machine of states may be made: what is pending is bounded. */
static bool is_in_long_circle(const struct stack *stack, const struct call *made)
{
	size_t around = 0;

	for (size_t i = stack->calls.count; i-- > 0 && around < CIRCLE_MAX;) {
		const struct call *call = stack_call(stack, i);

		if (call->slot != made->slot)
			break;
		around += call->entry == made->entry;
	}
	return around == CIRCLE_MAX;
}

struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context)
{
	struct stack *stack = stackset_find(stacks, call->slot, popped, context);
	struct call made = *call;

	if (stacks->exchanged)
		made.sample = sample_take(stacks->view, stacks->context, call->slot);
	if (made.preserved && is_in_long_circle(stack, &made))
		made.preserved = 0;
	drop_over(stacks, stack, &made, popped, context);
	size_t depth = depth_at(stacks, stack, &made);
	cover(stack, &made);
	struct call *pushed = vec_push(&stack->calls, &made);

	stack->signal_sp = 0;
	pushed->serial = ++stacks->serial;
	pushed->depth = (uint32_t)depth;
	if (call->site) {
		stacks->depth++;
		stack->sites++;
	}
	return pushed;
}

static void nothing_popped(void *context, const struct call *call, bool returned)
{
	(void)context, (void)call, (void)returned;
}

void callstacks_insert(struct callstacks *stacks, const struct call *call)
{
	struct stack *stack = stackset_find(stacks, call->slot, nothing_popped, NULL);
	size_t place = stack->calls.count;
	struct call made = *call;

	made.serial = ++stacks->serial;
	vec_push(&stack->calls, &made);
	while (place && stack_call(stack, place - 1)->slot < call->slot) {
		*stack_call(stack, place) = *stack_call(stack, place - 1);
		place--;
	}
	*stack_call(stack, place) = made;
	if (call->site) {
		stacks->depth++;
		stack->sites++;
	}
}

struct call *callstacks_find(struct callstacks *stacks, uint64_t slot, uint64_t return_address,
			     uint64_t entry)
{
	struct stack *stack = stackset_known(stacks, slot);

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->slot == slot && call->return_address == return_address &&
		    call->entry == entry)
			return call;
		if (stack->single && call->slot > slot)
			break;
	}
	return NULL;
}

void callstacks_restart(struct callstacks *stacks, uint64_t slot)
{
	struct stack *stack = stackset_known(stacks, slot);

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->slot != slot)
			continue;
		call->restarted = true;
		break;
	}
}

bool callstacks_return(struct callstacks *stacks, const struct arrival *arrival,
		       call_popped *popped, void *context)
{
	struct stack *stack = stackset_known(stacks, arrival->sp - arrival->word);
	size_t found = stack ? returned_find(stacks, stack, arrival) : 0;

	if (!stack || found == stack->calls.count)
		return false;
	stack = stackset_end_inner(stacks, stack, popped, context);
	found = returned_find(stacks, stack, arrival);
	if (found == stack->calls.count)
		return false; /* another thread writes to the stack */
	stack->signal_sp = 0;
	const struct call first = *stack_call(stack, found);
	bool returned = first.arrived || returned_is_intact(stacks, &first);

	for (size_t i = stack->calls.count; i-- > found;) {
		const struct call *call = stack_call(stack, i);
		bool together = call->slot == first.slot &&
				call->return_address == first.return_address &&
				call->in_process == first.in_process &&
				(!stacks->exchanged || i == found ||
				 sample_equal(call->sample, stack_call(stack, found)->sample));

		if (together || is_ordered(stacks, stack))
			stackset_pop(stacks, stack, i, together && returned, popped, context);
	}
	if (first.in_process)
		uncover(stack, first.slot);
	if (!stack->single)
		drop_overwritten(stacks, stack, popped, context);
	return true;
}

void callstacks_interrupted(struct callstacks *stacks, const struct arrival *arrival)
{
	struct stack *stack = stackset_known(stacks, arrival->sp - arrival->word);
	size_t found = stack ? returned_find(stacks, stack, arrival) : 0;

	if (stack && found < stack->calls.count &&
	    returned_is_intact(stacks, stack_call(stack, found)))
		stack_call(stack, found)->arrived = true;
}

void callstacks_leave(struct callstacks *stacks, uint64_t sp, call_popped *popped, void *context)
{
	struct stack *stack = stackset_known(stacks, sp - 1);

	stack = stackset_settle(stacks, stack, sp, popped, context);
	if (stack)
		stack->signal_sp = 0;
	while (stack && stack_leaves_calls(stack, sp))
		stackset_pop(stacks, stack, stack->calls.count - 1, false, popped, context);
	if (stack && !stack->single)
		drop_overwritten(stacks, stack, popped, context);
}

void callstacks_signal(struct callstacks *stacks, uint64_t sp)
{
	struct stack *stack = stackset_known(stacks, sp);

	if (!stack)
		return;
	stack->signal_sp = sp;
	stack->signal_serial = stacks->serial;
}

/* A handler on a stack of its own, at `sp`, is left: so are the calls that it made. */
static void leave_handler(struct callstacks *stacks, uint64_t sp, uint64_t since,
			  call_popped *popped, void *context)
{
	struct stack *stack = stackset_known(stacks, sp);

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;)
		if (stack_call(stack, i)->serial > since)
			stackset_pop(stacks, stack, i, false, popped, context);
}

/*
 * Whether a call is left by a jump to a frame. Calls from that frame lie below the stack pointer
 * that setjmp() kept. But where its arguments were on the stack, and have been taken off, a call
 * may lie in their place: from the code around the setjmp(), other than the one that made the
 * frame.
 */
static bool is_jumped_over(const struct call *call, const struct stack_jump *jump)
{
	if (call->slot < jump->target)
		return true;
	return call->slot - jump->target < jump->arguments &&
	       call->origin - jump->pc + FUNCTION_MAX < 2 * FUNCTION_MAX;
}

void callstacks_jump(struct callstacks *stacks, const struct stack_jump *jump, call_popped *popped,
		     void *context)
{
	const uint64_t sp = jump->from;
	const uint64_t target = jump->target;
	struct stack *stack = stackset_known(stacks, target - 1);

	/* A jump to another stack may be how a coroutine gives way: it will be back. */
	if (!stack || !stack_contains(stack, sp) || sp > target ||
	    (!stack->single && target - sp > JUMP_MAX)) {
		if (stack && !stack_contains(stack, sp) && stack->signal_sp &&
		    stack->signal_sp < target)
			leave_handler(stacks, sp, stack->signal_serial, popped, context);
		callstacks_leave(stacks, target, popped, context);
		return;
	}
	stack = stackset_end_inner(stacks, stack, popped, context);
	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = stack_call(stack, i);
		const bool is_left = is_jumped_over(call, jump);

		if (stack->single && !is_left)
			break;
		/* What of a copied stack is at its place now is the jumping one's. */
		if (stack->single || (call->slot >= sp && is_left &&
				      (!stacks->exchanged || returned_is_intact(stacks, call))))
			stackset_pop(stacks, stack, i, false, popped, context);
	}
}

void callstacks_exchange(struct callstacks *stacks)
{
	if (stacks->exchanged)
		return;
	stacks->exchanged = true;
	for (size_t i = 0; i < stacks->stacks.count; i++)
		stackset_at(stacks, i)->single = false;
}

void callstacks_each(const struct callstacks *stacks, call_visit *visit, void *context)
{
	for (size_t i = 0; i < stacks->stacks.count; i++) {
		const struct stack *stack = stackset_at(stacks, i);

		for (size_t k = 0; k < stack->calls.count; k++)
			visit(context, stack_call(stack, k));
	}
}

bool callstacks_are_empty(const struct callstacks *stacks)
{
	bool empty = true;

	for (size_t i = 0; i < stacks->stacks.count; i++)
		empty &= !stackset_at(stacks, i)->calls.count;
	return empty;
}

size_t callstacks_depth(const struct callstacks *stacks)
{
	return stacks->depth;
}

size_t callstacks_depth_at(struct callstacks *stacks, uint64_t sp)
{
	const struct stack *stack = stackset_known(stacks, sp);
	const struct call here = {.slot = sp};

	return stack ? depth_at(stacks, stack, &here) : 0;
}

void callstacks_look_back(struct callstacks *stacks, uint64_t moment, bool signalled)
{
	stacks->moment = moment;
	stacks->signalled = signalled;
}

struct call *callstacks_uncover(struct callstacks *stacks, uint64_t slot, uint64_t stub,
				uint64_t return_address)
{
	struct stack *stack = stackset_known(stacks, slot);
	struct call *found = NULL;

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (stack->single && call->slot > slot)
			break;
		if (call->slot != slot)
			continue;
		if (!found && call->return_address == stub && call->in_process) {
			call->return_address = return_address;
			call->in_process = false;
			call->covered = 0;
			found = call;
		} else if (found && call->covered == stub) {
			/* It is a tail call from that one. */
			call->covered = 0;
		}
	}
	return found;
}
