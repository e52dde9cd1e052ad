/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pending calls.
 *
 * A call is known by two things: the stack slot that holds its return address, and that
 * address. When a thread arrives at a return address R with stack pointer sp, the call that
 * returned is the one with return address R whose slot lies right below sp. "Right below" is
 * one word, or a little more when the function takes its arguments off the stack itself (`ret
 * n`: i386 struct results). Recursion gives many calls with the same R and different slots; a
 * tail call gives several with the same slot and the same R, which all return at once.
 *
 * Calls are also left without returning: longjmp, C++ exceptions, thread cancellation. Nothing
 * tells us. But a stack is a stack: once the thread is seen with sp above a call's slot, that
 * call is over. So every push and every return first drops what lies deeper. One case needs
 * more: setjmp, call f, longjmp out of f, call f again finds the old f pending at the very slot
 * of the new one. The same function twice at one slot is a repeated call, not a tail call, and
 * the old one is dropped.
 *
 * Threads use several stacks: signal stacks, ucontext and fibers. Order holds only within one,
 * so calls are kept per stack, told apart by the bounds of the mapping that sp is in. A
 * thread's own stack is one mapping. Other stacks may share one (fiber stacks carved out of the
 * heap): there calls at lower addresses may well be pending, so only an exact match of slot and
 * return address is trusted, and calls are dropped only when their slot is used again.
 */
#include "engine/trap/callstack.h"

#include "base/vec.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum {
	STACKS_MAX = 1024,  /* stacks remembered per thread; the one unused longest goes first */
	ARGUMENTS_MAX = 64, /* bytes an i386 function may take off by itself (`ret n`) */
	FOREIGN_MAX = 65536 /* calls kept on a stack whose order means nothing */
};

struct stack {
	uint64_t low, high;
	bool own; /* the first stack seen: the thread's own, where order can be trusted */
	struct vec calls;
};

struct callstacks {
	struct vec stacks; /* struct stack, most recently used last */
	stack_bounds *bounds;
	void *context;
	size_t depth;
};

struct callstacks *callstacks_create(stack_bounds *bounds, void *context)
{
	struct callstacks *stacks = xcalloc(1, sizeof *stacks);

	vec_init(&stacks->stacks, sizeof(struct stack));
	stacks->bounds = bounds;
	stacks->context = context;
	return stacks;
}

static struct stack *stack_at(const struct callstacks *stacks, size_t index)
{
	return vec_at(&stacks->stacks, index);
}

static struct call *call_at(const struct stack *stack, size_t index)
{
	return vec_at(&stack->calls, index);
}

void callstacks_destroy(struct callstacks *stacks)
{
	if (!stacks)
		return;
	callstacks_unwind(stacks, NULL, NULL);
	vec_deinit(&stacks->stacks);
	free(stacks);
}

struct callstacks *callstacks_clone(const struct callstacks *stacks, void *context)
{
	struct callstacks *clone = callstacks_create(stacks->bounds, context);

	clone->depth = stacks->depth;
	for (size_t i = 0; i < stacks->stacks.count; i++) {
		const struct stack *from = stack_at(stacks, i);
		struct stack *to = vec_push(&clone->stacks, from);

		vec_init(&to->calls, sizeof(struct call));
		for (size_t k = 0; k < from->calls.count; k++) {
			struct call *call = vec_push(&to->calls, call_at(from, k));

			if (call->saved)
				call->saved = xmemdup(call->saved, sizeof *call->saved);
		}
	}
	return clone;
}

/* Takes call `index` of a stack out and reports it. */
static void pop(struct callstacks *stacks, struct stack *stack, size_t index, bool returned,
		call_popped *popped, void *context)
{
	struct call call = *call_at(stack, index);

	vec_remove(&stack->calls, index);
	if (call.site)
		stacks->depth--;
	if (popped)
		popped(context, &call, returned);
	free(call.saved);
}

static void drop_stack(struct callstacks *stacks, size_t index, call_popped *popped, void *context)
{
	struct stack *stack = stack_at(stacks, index);

	while (stack->calls.count)
		pop(stacks, stack, stack->calls.count - 1, false, popped, context);
	vec_deinit(&stack->calls);
	vec_remove(&stacks->stacks, index);
}

void callstacks_unwind(struct callstacks *stacks, call_popped *popped, void *context)
{
	while (stacks->stacks.count)
		drop_stack(stacks, stacks->stacks.count - 1, popped, context);
}

static bool contains(const struct stack *stack, uint64_t sp)
{
	return sp >= stack->low && sp < stack->high;
}

/* The stack that sp is in, moved to the end of the list; NULL when it is not known yet. */
static struct stack *known_stack(struct callstacks *stacks, uint64_t sp)
{
	size_t count = stacks->stacks.count;

	if (count && contains(stack_at(stacks, count - 1), sp))
		return stack_at(stacks, count - 1);
	for (size_t i = count; i-- > 0;) {
		struct stack found = *stack_at(stacks, i);

		if (!contains(&found, sp))
			continue;
		vec_remove(&stacks->stacks, i);
		return vec_push(&stacks->stacks, &found);
	}
	return NULL;
}

/*
 * Takes out the known stacks that the mapping [low, high) overlaps and makes one of them: a
 * stack grew, or the kernel made one mapping of neighbours. Kept apart, an address would be in
 * two of them. Growth downwards is a stack's own; with any other the mapping holds several,
 * whose order means nothing.
 */
static struct stack take_overlapping(struct callstacks *stacks, uint64_t low, uint64_t high)
{
	struct stack joined = {.low = low, .high = high, .own = stacks->stacks.count == 0};
	size_t parts = 0;

	vec_init(&joined.calls, sizeof(struct call));
	for (size_t i = 0; i < stacks->stacks.count;) {
		struct stack part = *stack_at(stacks, i);

		if (part.high <= low || part.low >= high) {
			i++;
			continue;
		}
		joined.own = parts++ == 0 && part.own && part.high >= high;
		joined.low = part.low < joined.low ? part.low : joined.low;
		joined.high = part.high > joined.high ? part.high : joined.high;
		for (size_t k = 0; k < part.calls.count; k++)
			vec_push(&joined.calls, call_at(&part, k));
		vec_deinit(&part.calls);
		vec_remove(&stacks->stacks, i);
	}
	return joined;
}

static struct stack *stack_of(struct callstacks *stacks, uint64_t sp, call_popped *popped,
			      void *context)
{
	struct stack *stack = known_stack(stacks, sp);
	uint64_t low;
	uint64_t high;

	if (stack)
		return stack;
	if (!stacks->bounds || !stacks->bounds(stacks->context, sp, &low, &high)) {
		low = 0; /* unknown: as if there were one stack only */
		high = UINT64_MAX;
	}
	struct stack made = take_overlapping(stacks, low, high);

	if (stacks->stacks.count == STACKS_MAX)
		drop_stack(stacks, stacks->stacks.count > 1 && stack_at(stacks, 0)->own, popped,
			   context);
	return vec_push(&stacks->stacks, &made);
}

/* Whether a pending call is over, now that `call` is made. */
static bool is_over(const struct stack *stack, const struct call *pending, const struct call *call)
{
	if (pending->slot < call->slot)
		return stack->own;
	if (pending->slot != call->slot)
		return false;
	/* A hook and a site at one place make two calls of each call. */
	return pending->return_address != call->return_address ||
	       (pending->entry == call->entry && pending->hook == call->hook);
}

/* The oldest call that is over takes what was made from it along. */
static void drop_over(struct callstacks *stacks, struct stack *stack, const struct call *call,
		      call_popped *popped, void *context)
{
	size_t first = stack->calls.count;

	for (size_t i = first; i-- > 0;) {
		if (stack->own && call_at(stack, i)->slot > call->slot)
			break;
		if (is_over(stack, call_at(stack, i), call))
			first = i;
	}
	for (size_t i = stack->calls.count; i-- > first;)
		if (stack->own || call_at(stack, i)->slot == call->slot)
			pop(stacks, stack, i, false, popped, context);
	if (stack->calls.count >= FOREIGN_MAX && !stack->own)
		pop(stacks, stack, 0, false, popped, context);
}

struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context)
{
	struct stack *stack = stack_of(stacks, call->slot, popped, context);

	drop_over(stacks, stack, call, popped, context);
	struct call *pushed = vec_push(&stack->calls, call);

	pushed->depth = (uint32_t)stacks->depth;
	if (call->site)
		stacks->depth++;
	return pushed;
}

struct call *callstacks_find(struct callstacks *stacks, uint64_t slot, uint64_t return_address,
			     uint64_t entry)
{
	struct stack *stack = known_stack(stacks, slot);

	for (size_t i = stack ? stack->calls.count : 0; i-- > 0;) {
		struct call *call = call_at(stack, i);

		if (call->slot == slot && call->return_address == return_address &&
		    call->entry == entry)
			return call;
		if (stack->own && call->slot > slot)
			break;
	}
	return NULL;
}

/* The oldest call that returns to `pc` with its slot right below sp; count when there is none. */
static size_t find_returned(const struct stack *stack, uint64_t pc, uint64_t sp, unsigned word)
{
	size_t found = stack->calls.count;
	uint64_t reach = word + (word == 4 ? ARGUMENTS_MAX : 0);
	uint64_t best = 0;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = call_at(stack, i);

		if (stack->own && call->slot >= sp)
			break;
		if (call->return_address == pc && call->slot < sp && call->slot >= best &&
		    sp - call->slot <= reach) {
			best = call->slot;
			found = i;
		}
	}
	return found;
}

bool callstacks_return(struct callstacks *stacks, uint64_t pc, uint64_t sp, unsigned word,
		       call_popped *popped, void *context)
{
	struct stack *stack = known_stack(stacks, sp - word);
	size_t found = stack ? find_returned(stack, pc, sp, word) : 0;

	if (!stack || found == stack->calls.count)
		return false;
	uint64_t slot = call_at(stack, found)->slot;

	for (size_t i = stack->calls.count; i-- > found;) {
		const struct call *call = call_at(stack, i);
		bool together = call->slot == slot && call->return_address == pc;

		if (together || stack->own)
			pop(stacks, stack, i, together, popped, context);
	}
	return true;
}

void callstacks_leave(struct callstacks *stacks, uint64_t sp, call_popped *popped, void *context)
{
	struct stack *stack = known_stack(stacks, sp - 1);

	while (stack && stack->own && stack->calls.count &&
	       call_at(stack, stack->calls.count - 1)->slot < sp)
		pop(stacks, stack, stack->calls.count - 1, false, popped, context);
}

void callstacks_each(const struct callstacks *stacks, call_visit *visit, void *context)
{
	for (size_t i = 0; i < stacks->stacks.count; i++) {
		const struct stack *stack = stack_at(stacks, i);

		for (size_t k = 0; k < stack->calls.count; k++)
			visit(context, call_at(stack, k));
	}
}

size_t callstacks_depth(const struct callstacks *stacks)
{
	return stacks->depth;
}
