/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread may use several stacks: signal stacks, ucontext, fibers. The order of addresses has a
 * meaning only within one stack, so calls are kept per stack. The bounds of the mapping that
 * contains sp distinguish the stacks. Several stacks may share a mapping (fiber stacks on the
 * heap). Then calls at lower addresses may well be pending: only an exact match of stack word and
 * return address counts, and a call is dropped when its stack word is used again or no longer
 * holds its return address.
 *
 * A signal stack may lie inside the thread's own stack (a local array), or next to it in one
 * mapping (new mappings are often adjacent to the latest ones). Then sp does not tell which calls
 * are over. So before calls are dropped because they are deeper, the view is asked whether the
 * thread is on a signal stack; if so, that stack is kept separately. When the thread is seen on
 * the surrounding stack again, the handler is over, and so are the calls that it left pending.
 */
#include "engine/core/stackset.h"

#include "base/xalloc.h"
#include "engine/core/sample.h"

#include <stdlib.h>

enum {
	STACKS_MAX = 8192 /* stacks kept per thread; the least recently used one is dropped first */
};

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

/*
 * Moves the stack found to the end of the list. An inner stack is preferred to the one around it.
 */
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
 * Removes the known stacks that overlap the mapping [low, high) and joins them to one: a stack
 * grew, or the kernel merged adjacent mappings. Otherwise an address would be in two stacks. A
 * single stack may grow downwards. After any other change the mapping holds several stacks, and
 * the order of their calls has no meaning; so does the hole that unmapped stacks leave.
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
		joined.single = single && parts++ == 0 && part.single && part.high >= high;
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

/* Returns the index of the stack to drop: the least recently used one, but not the thread's own. */
static size_t oldest(const struct callstacks *stacks)
{
	return stacks->stacks.count > 1 && stackset_at(stacks, 0)->own;
}

/* ------------------------------------------------------------------ inner signal stacks */

bool stack_leaves_calls(const struct stack *stack, uint64_t sp)
{
	return stack->single && stack->calls.count &&
	       stack_call(stack, stack->calls.count - 1)->place < sp;
}

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

struct stack *stackset_settle(struct callstacks *stacks, struct stack *stack, uint64_t sp,
			      call_popped *popped, void *context)
{
	struct stack inner = {.single = true, .inner = true};

	if (!stack || stack->inner)
		return stack;
	if (stacks->batch)
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
