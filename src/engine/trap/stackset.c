/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads use several stacks: signal stacks, ucontext and fibers. Order holds only within one,
 * so calls are kept per stack, told apart by the bounds of the mapping that sp is in. Stacks
 * may share one (fiber stacks carved out of the heap): there calls at lower addresses may well
 * be pending, so only an exact match of slot and return address is trusted, and calls are
 * dropped when their slot is used again or no longer holds their return address.
 *
 * A signal stack may lie in the midst of the thread's own (a local array), or right beside it in
 * one mapping (what is mapped last often is next to what was mapped before). There sp says
 * nothing of what is over: before calls are dropped because they are deeper, the view is asked
 * whether the thread is on such a stack, which is then kept apart. When the thread is seen on the
 * surrounding stack again, the handler is over, and what it left pending.
 */
#include "engine/trap/stackset.h"

#include "base/xalloc.h"
#include "engine/trap/sample.h"

#include <stdlib.h>

enum { STACKS_MAX = 8192 /* stacks remembered per thread; the one unused longest goes first */ };

struct callstacks *callstacks_create(const struct stack_view *view, void *context)
{
	struct callstacks *stacks = xcalloc(1, sizeof *stacks);

	vec_init(&stacks->stacks, sizeof(struct stack));
	stacks->view = view;
	stacks->context = context;
	return stacks;
}

struct stack *stackset_at(const struct callstacks *stacks, size_t index)
{
	return vec_at(&stacks->stacks, index);
}

struct call *stack_call(const struct stack *stack, size_t index)
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
	struct callstacks *clone = callstacks_create(stacks->view, context);

	clone->depth = stacks->depth;
	clone->exchanged = stacks->exchanged;
	clone->inner = stacks->inner;
	for (size_t i = 0; i < stacks->stacks.count; i++) {
		const struct stack *from = stackset_at(stacks, i);
		struct stack *to = vec_push(&clone->stacks, from);

		vec_init(&to->calls, sizeof(struct call));
		for (size_t k = 0; k < from->calls.count; k++) {
			struct call *call = vec_push(&to->calls, stack_call(from, k));

			call->inherited = true;
			if (call->saved)
				call->saved = xmemdup(call->saved, sizeof *call->saved);
			if (call->sample)
				call->sample = xmemdup(call->sample, sizeof *call->sample);
		}
	}
	return clone;
}

/* Takes call `index` of a stack out and reports it. */
void stackset_pop(struct callstacks *stacks, struct stack *stack, size_t index, bool returned,
		  call_popped *popped, void *context)
{
	struct call call = *stack_call(stack, index);

	vec_remove(&stack->calls, index);
	if (call.site) {
		stacks->depth--;
		stack->sites--;
	}
	if (popped)
		popped(context, &call, returned);
	free(call.saved);
	free(call.sample);
}

static void drop_stack(struct callstacks *stacks, size_t index, call_popped *popped, void *context)
{
	struct stack *stack = stackset_at(stacks, index);

	while (stack->calls.count)
		stackset_pop(stacks, stack, stack->calls.count - 1, false, popped, context);
	vec_deinit(&stack->calls);
	stacks->inner -= stack->inner;
	vec_remove(&stacks->stacks, index);
}

void callstacks_unwind(struct callstacks *stacks, call_popped *popped, void *context)
{
	while (stacks->stacks.count)
		drop_stack(stacks, stacks->stacks.count - 1, popped, context);
}

bool stack_contains(const struct stack *stack, uint64_t sp)
{
	return sp >= stack->low && sp < stack->high;
}

/* The stack that sp is in, moved to the end of the list; NULL when it is not known yet. */
struct stack *stackset_known(struct callstacks *stacks, uint64_t sp)
{
	const struct stack *all = stacks->stacks.items;
	size_t count = stacks->stacks.count;
	size_t found = count;

	if (count && !stacks->inner && stack_contains(&all[count - 1], sp))
		return stackset_at(stacks, count - 1);
	for (size_t i = count; i-- > 0 && (found == count || stacks->inner);)
		if (stack_contains(&all[i], sp) && (found == count || all[i].inner))
			found = i;
	if (found == count)
		return NULL;
	struct stack moved = *stackset_at(stacks, found);

	vec_remove(&stacks->stacks, found);
	return vec_push(&stacks->stacks, &moved);
}

/*
 * Takes out the known stacks that the mapping [low, high) overlaps and makes one of them: a
 * stack grew, or the kernel made one mapping of neighbours. Kept apart, an address would be in
 * two of them. Growth downwards is a stack's own; with any other the mapping holds several,
 * whose order means nothing.
 */
static struct stack take_overlapping(struct callstacks *stacks, uint64_t low, uint64_t high,
				     bool single)
{
	struct stack joined = {.low = low, .high = high, .single = single};

	joined.own = stacks->stacks.count == 0;
	size_t parts = 0;

	vec_init(&joined.calls, sizeof(struct call));
	for (size_t i = 0; i < stacks->stacks.count;) {
		const struct stack *all = stacks->stacks.items;

		if (all[i].high <= low || all[i].low >= high) {
			i++;
			continue;
		}
		struct stack part = all[i];

		joined.own |= part.own;
		joined.single = parts++ == 0 && part.single && part.high >= high;
		joined.sites += part.sites;
		joined.low = part.low < joined.low ? part.low : joined.low;
		joined.high = part.high > joined.high ? part.high : joined.high;
		for (size_t k = 0; k < part.calls.count; k++)
			vec_push(&joined.calls, stack_call(&part, k));
		vec_deinit(&part.calls);
		vec_remove(&stacks->stacks, i);
	}
	return joined;
}

/* The stack to give up: the one unused longest, but not the thread's own. */
static size_t oldest(const struct callstacks *stacks)
{
	return stacks->stacks.count > 1 && stackset_at(stacks, 0)->own;
}

/*
 * ------------------------------------------------------------------ signal stacks inside of others
 */

/* Whether calls would be over because the thread is at `sp` of that stack. */
bool stack_leaves_calls(const struct stack *stack, uint64_t sp)
{
	return stack->single && stack->calls.count &&
	       stack_call(stack, stack->calls.count - 1)->slot < sp;
}

/* The thread is on `stack`: signal stacks inside of it are not in use any more. */
struct stack *stackset_end_inner(struct callstacks *stacks, struct stack *stack,
				 call_popped *popped, void *context)
{
	struct stack around = *stack;

	if (!stacks->inner || around.inner)
		return stack;
	for (size_t i = stacks->stacks.count; i-- > 0;) {
		const struct stack *inner = stackset_at(stacks, i);

		if (inner->inner && inner->low >= around.low && inner->high <= around.high)
			drop_stack(stacks, i, popped, context);
	}
	return stackset_known(stacks, around.low);
}

/* The stack that the thread, at `sp` in what was taken for `stack`, is really on. */
struct stack *stackset_settle(struct callstacks *stacks, struct stack *stack, uint64_t sp,
			      call_popped *popped, void *context)
{
	struct stack inner = {.single = true, .inner = true};

	if (!stack || stack->inner)
		return stack;
	if (stacks->moment)
		return stackset_end_inner(stacks, stack, popped, context);
	if (!stack_leaves_calls(stack, sp) || !stacks->view || !stacks->view->signal_stack ||
	    !stacks->view->signal_stack(stacks->context, sp, &inner.low, &inner.high) ||
	    !stack_contains(&inner, sp) || inner.low < stack->low || inner.high > stack->high)
		return stackset_end_inner(stacks, stack, popped, context);
	if (stacks->stacks.count == STACKS_MAX)
		drop_stack(stacks, oldest(stacks), popped, context);
	vec_init(&inner.calls, sizeof(struct call));
	stacks->inner++;
	return vec_push(&stacks->stacks, &inner);
}

struct stack *stackset_find(struct callstacks *stacks, uint64_t sp, call_popped *popped,
			    void *context)
{
	struct stack *stack = stackset_known(stacks, sp);
	uint64_t low;
	uint64_t high;

	if (stack)
		return stackset_settle(stacks, stack, sp, popped, context);
	bool single = false;

	if (!stacks->view || !stacks->view->bounds ||
	    !stacks->view->bounds(stacks->context, sp, &low, &high, &single)) {
		low = 0; /* unknown: as if there were one stack only */
		high = UINT64_MAX;
		single = true;
	}
	single = single && !stacks->exchanged;
	struct stack made = take_overlapping(stacks, low, high, single);

	if (stacks->stacks.count == STACKS_MAX)
		drop_stack(stacks, oldest(stacks), popped, context);
	return vec_push(&stacks->stacks, &made);
}
