/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pending calls.
 *
 * A call is identified by the address of the stack word that holds its return address (call.slot),
 * and by that return address (returned.c). Recursion gives many calls with one return address and
 * different stack words. A tail call gives several calls with one stack word and one return
 * address, which all return at once.
 *
 * Calls are also left without a return: by longjmp, C++ exceptions, thread cancellation. No event
 * reports that. But a stack is a stack: once the thread is seen with sp above a call's stack word,
 * that call is over. So every push and every return first drops the calls that are deeper. Two
 * cases need more.
 *
 * First: setjmp, call f, longjmp out of f, call f again. The old f is still pending at the stack
 * word of the new one. The same function twice at one stack word is a repeated call, not a tail
 * call, so the old call is dropped. There is one exception: if only longjmp, which is hooked, can
 * leave calls, and the caller's registers have not changed, it is a circle of tail calls (f, g,
 * f). Another function at one stack word is a tail call, unless registers or code say that it
 * cannot be one (tail_reach.h): then an exception has left the old call. (A destructor run by an
 * exception may go deeper than the call that was left: then that call's stack word no longer holds
 * its return address.)
 *
 * Second: a handler that continues right behind the call that was left: `try { f(); } catch (...)
 * {}`, `if (!setjmp(b)) f();`. The thread arrives at the return address with the sp of a return.
 * After a real return the stack word just below sp still holds the return address, because no
 * signal handler of x86_64 may write there (i386: callstacks_interrupted()). After an exception
 * that word was overwritten: the catching frame has called functions of the runtime before its
 * handler. After a longjmp it was not, but the hook of longjmp reports the jump
 * (callstacks_jump()).
 *
 * All this holds within one stack, and a thread may have several (stackset.c). Where the stacks
 * cannot be distinguished, only an exact match of stack word and return address counts, and a call
 * is dropped when its stack word is used again or no longer holds its return address.
 *
 * Some runtimes keep many stacks at one address (Python's greenlets, Ruby's continuations): the
 * contents of a suspended stack are copied away, and copied back before it continues. Then the
 * stack word of a pending call may hold something else at the moment, and several calls may have
 * the same stack word and return address. The contents of the stack above the word tell which of
 * them returns (sample.h).
 */
#include "engine/core/callstack.h"

#include "engine/core/returned.h"
#include "engine/core/sample.h"
#include "engine/core/stackset.h"

#include <stdlib.h>

enum {
	FOREIGN_MAX = 16384,  /* calls kept on a stack without a trusted order */
	CIRCLE_MAX = 64,      /* tail calls of one function at one stack word, in a circle */
	INNER_CHECKS = 8,     /* innermost calls whose stack words are checked */
	NEAR = 16384,	      /* bytes: a call at most this far above is on the same stack */
	FUNCTION_MAX = 16384, /* bytes of code between a setjmp() and a later call */
	JUMP_MAX = 262144     /* bytes: a longer jump in one mapping goes to another stack */
};

/* ------------------------------------------------------------------ calls that are over */

/*
 * Returns true if calls that are deeper than the thread's sp are over. Not known for calls that
 * are reported afterwards if a signal handler may have run on a signal stack inside the thread's
 * own: the kernel cannot be asked for that any more.
 */
static bool is_ordered(const struct callstacks *stacks, const struct stack *stack)
{
	return stack->single && !(stacks->batch && stacks->signalled);
}

/*
 * `call` has the stack word and the return address of `pending`. Returns true if it may be a tail
 * call that `pending` has made: then that has restored the caller's registers before, and its code
 * jumps to the other function.
 */
static bool may_be_tail_call(const struct callstacks *stacks, const struct call *pending,
			     const struct call *call)
{
	if (pending->registers && call->registers && pending->registers != call->registers)
		return false;
	return !stacks->view || !stacks->view->may_jump || !pending->entry || !call->entry ||
	       stacks->view->may_jump(stacks->context, pending->entry, call->entry);
}

/* Returns true if the pending call must be over because `call` is made. */
static bool is_over(const struct callstacks *stacks, const struct stack *stack,
		    const struct call *pending, const struct call *call)
{
	if (pending->place < call->place)
		return is_ordered(stacks, stack);
	if (pending->place != call->place)
		return false;
	/*
	 * A return trampoline belongs to one call. `call` has found in its stack word the word of
	 * the call that it is a tail call from, so a pending call with another word is over. A
	 * pending call without a trampoline may have been left by an exception, and have the same
	 * return address: it is over if it is of the same function, because functions hardly
	 * tail-call themselves. (Its entry may be another one, a breakpoint that the agent has sent
	 * it to.)
	 */
	if (call->in_process)
		return returned_word(pending) != call->caller ||
		       (!pending->in_process && (pending->entry == call->entry ||
						 (pending->site && pending->site == call->site) ||
						 !may_be_tail_call(stacks, pending, call)));
	if (stacks->exchanged && (pending->return_address != call->return_address ||
				  !sample_equal(pending->sample, call->sample)))
		return false;
	if (pending->return_address != call->return_address)
		return true;
	/* A hook and a site at one address make two pending calls of each call. */
	if (pending->entry == call->entry)
		return pending->hook == call->hook && !(call->may_circle && pending->may_circle &&
							pending->registers == call->registers);
	return !may_be_tail_call(stacks, pending, call);
}

/*
 * Returns what the stack word of a pending call should hold; 0: unknown. When calls are reported
 * afterwards, an in-process call may have returned since, and the word that it covered may be
 * back. The return of any other call would have stopped the thread.
 */
static uint64_t expected_word(const struct callstacks *stacks, const struct call *call)
{
	return stacks->batch && (call->in_process || call->covered) ? 0 : returned_word(call);
}

/* Returns true if the stack words are to be read: once per batch of reported calls, else always. */
static bool may_look(const struct callstacks *stacks, struct stack *stack)
{
	if (!stacks->view || !stacks->view->words)
		return false;
	bool known = stacks->batch && stack->looked == stacks->batch;

	stack->looked = stacks->batch;
	return !known;
}

/*
 * Drops those of the latest calls whose stack words have been used again. On an ordered stack,
 * each takes the calls inside it along, whatever their stack words hold.
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
		slots[i] = stack_call(stack, first + i)->place;
		words[i] = expected_word(stacks, stack_call(stack, first + i));
	}
	stacks->view->words(stacks->context, count, slots, words);
	for (size_t i = 0; i < count; i++) {
		const struct call *call = stack_call(stack, first + i);
		uint64_t expected = expected_word(stacks, call);

		over = (over && stack->single && (expected || !stacks->batch)) ||
		       (expected && words[i] != expected);
		slots[i] = over;
	}
	for (size_t i = count; i-- > 0;)
		if (slots[i])
			stackset_pop(stacks, stack, first + i, false, popped, context);
}

/*
 * Drops the calls that are over because `call` is made. On an ordered stack, the oldest of them
 * takes all calls inside it along.
 */
static void drop_over(struct callstacks *stacks, struct stack *stack, const struct call *call,
		      call_popped *popped, void *context)
{
	size_t first = stack->calls.count;

	for (size_t i = first; i-- > 0;) {
		if (is_ordered(stacks, stack) && stack_call(stack, i)->place > call->place)
			break;
		if (is_over(stacks, stack, stack_call(stack, i), call))
			first = i;
	}
	for (size_t i = stack->calls.count; i-- > first;)
		if (is_ordered(stacks, stack) ||
		    (stack_call(stack, i)->place == call->place &&
		     (!stacks->exchanged || is_over(stacks, stack, stack_call(stack, i), call))))
			stackset_pop(stacks, stack, i, false, popped, context);
	drop_overwritten(stacks, stack, popped, context);
	if (stack->calls.count >= FOREIGN_MAX && !stack->single)
		stackset_pop(stacks, stack, 0, false, popped, context);
}

/*
 * Returns the number of calls with a site around `made`, which is about to be pushed. On a stack
 * without a trusted order, the closest pending call above tells.
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

		if (call->place < made->place || (around && call->place >= around->place))
			continue;
		if (stacks->exchanged ? call->place == made->place &&
						!sample_equal(call->sample, made->sample)
				      : call->place - made->place > NEAR)
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

/*
 * Notes in the calls that `made` is a tail call from that its return trampoline is now in their
 * stack word. Sets made->origin, looking through their return trampolines.
 */
static void cover(struct stack *stack, struct call *made)
{
	made->origin = made->in_process ? made->caller : made->return_address;
	for (size_t i = stack->calls.count; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->place != made->place)
			continue;
		if (call->in_process && call->return_address == made->origin)
			made->origin = call->origin;
		if (made->in_process)
			call->covered = made->return_address;
	}
}

/*
 * A call has returned by its trampoline: the calls that it was a tail call from have their own
 * words back.
 */
static void uncover(struct stack *stack, uint64_t slot)
{
	uint64_t word = 0;

	for (size_t i = stack->calls.count; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->place != slot)
			continue;
		call->covered = word;
		if (call->in_process && !word)
			word = call->return_address;
	}
}

/* ------------------------------------------------------------------ what happens to a thread */

/*
 * Returns true if the function of `made` is pending CIRCLE_MAX times at this stack word, as in a
 * state machine made of tail calls. Bounds the number of pending calls.
 */
static bool is_in_long_circle(const struct stack *stack, const struct call *made)
{
	size_t around = 0;

	for (size_t i = stack->calls.count; i-- > 0 && around < CIRCLE_MAX;) {
		const struct call *call = stack_call(stack, i);

		if (call->place != made->place)
			break;
		around += call->entry == made->entry;
	}
	return around == CIRCLE_MAX;
}

struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context)
{
	struct stack *stack = stackset_find(stacks, call->place, popped, context);
	struct call made = *call;

	if (stacks->exchanged)
		made.sample = sample_take(stacks->view, stacks->context, call->place);
	made.may_circle = made.may_circle && !is_in_long_circle(stack, &made);
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
	struct stack *stack = stackset_find(stacks, call->place, nothing_popped, NULL);
	size_t place = stack->calls.count;
	struct call made = *call;

	made.serial = ++stacks->serial;
	vec_push(&stack->calls, &made);
	while (place && stack_call(stack, place - 1)->place < call->place) {
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

		if (call->place == slot && call->return_address == return_address &&
		    call->entry == entry)
			return call;
		if (stack->single && call->place > slot)
			break;
	}
	return NULL;
}

void callstacks_restart(struct callstacks *stacks, uint64_t slot)
{
	struct stack *stack = stackset_known(stacks, slot);

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (call->place != slot)
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
		return false; /* possible if another thread writes to the stack */
	stack->signal_sp = 0;
	const struct call first = *stack_call(stack, found);
	bool returned = first.arrived || returned_is_intact(stacks, &first);

	for (size_t i = stack->calls.count; i-- > found;) {
		const struct call *call = stack_call(stack, i);
		bool together = call->place == first.place &&
				call->return_address == first.return_address &&
				call->in_process == first.in_process &&
				(!stacks->exchanged || i == found ||
				 sample_equal(call->sample, stack_call(stack, found)->sample));

		if (together || is_ordered(stacks, stack))
			stackset_pop(stacks, stack, i, together && returned, popped, context);
	}
	if (first.in_process)
		uncover(stack, first.place);
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

/*
 * A handler that runs on a signal stack of its own, around `sp`, is left: pops the calls that were
 * made there since.
 */
static void leave_handler(struct callstacks *stacks, uint64_t sp, uint64_t since,
			  call_popped *popped, void *context)
{
	struct stack *stack = stackset_known(stacks, sp);

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;)
		if (stack_call(stack, i)->serial > since)
			stackset_pop(stacks, stack, i, false, popped, context);
}

/*
 * Returns true if a jump to a frame leaves `call`. Calls from that frame are below the stack
 * pointer that setjmp() has saved. But if setjmp()'s arguments were on the stack and have been
 * removed, a call may be in their place: one that is made near the setjmp(), and not the call that
 * made the frame.
 */
static bool is_jumped_over(const struct call *call, const struct stack_jump *jump)
{
	if (call->place < jump->target)
		return true;
	return call->place - jump->target < jump->arguments &&
	       call->origin - jump->pc + FUNCTION_MAX < 2 * FUNCTION_MAX;
}

void callstacks_jump(struct callstacks *stacks, const struct stack_jump *jump, call_popped *popped,
		     void *context)
{
	const uint64_t sp = jump->from;
	const uint64_t target = jump->target;
	struct stack *stack = stackset_known(stacks, target - 1);

	/* A jump to another stack may switch coroutines: the calls left here may continue. */
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
		/* Of copied stacks, only the one that is in place now is jumped on. */
		if (stack->single || (call->place >= sp && is_left &&
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
	const struct call here = {.place = sp};

	return stack ? depth_at(stacks, stack, &here) : 0;
}

void callstacks_look_back(struct callstacks *stacks, uint64_t batch, bool signalled)
{
	stacks->batch = batch;
	stacks->signalled = signalled;
}

struct call *callstacks_uncover(struct callstacks *stacks, uint64_t slot, uint64_t stub,
				uint64_t return_address)
{
	struct stack *stack = stackset_known(stacks, slot);
	struct call *found = NULL;

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;) {
		struct call *call = stack_call(stack, i);

		if (stack->single && call->place > slot)
			break;
		if (call->place != slot)
			continue;
		if (!found && call->return_address == stub && call->in_process) {
			call->return_address = return_address;
			call->in_process = false;
			call->covered = 0;
			found = call;
		} else if (found && call->covered == stub) {
			/* The call found is a tail call from this one. */
			call->covered = 0;
		}
	}
	return found;
}
