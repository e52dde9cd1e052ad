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
 * call is over. So every push and every return first drops what lies deeper. Two cases need
 * more. One is setjmp, call f, longjmp out of f, call f again, which finds the old f pending at
 * the very slot of the new one. The same function twice at one slot is a repeated call, not a
 * tail call, and the old one is dropped. (A destructor that an exception runs may go deeper than
 * the call that was left: that call's slot no longer holds its return address.)
 *
 * The other is a handler that goes on behind the very call that was left: `try { f(); } catch
 * (...) {}`, `if (!setjmp(b)) f();`. The thread arrives at R with the sp of a return. A real
 * return leaves R in the slot, just below sp, where no signal handler of x86_64 may write (i386:
 * callstacks_interrupted()). A handler of an exception has called functions from the frame that
 * caught it, which wrote their own return addresses there. longjmp has not, and is told by its
 * caller (callstacks_jump()).
 *
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
 *
 * Some runtimes have many stacks at one place (Python's greenlets, Ruby's continuations): what a
 * suspended one has on the stack is copied away, and copied back before it goes on. Then a call
 * may be pending whose slot holds something else at the moment, and several may have the same
 * slot and return address. Which one returns is told by the registers that a function has to
 * preserve: they hold what its caller was working on.
 */
#include "engine/trap/callstack.h"

#include "base/vec.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum {
	STACKS_MAX = 1024,   /* stacks remembered per thread; the one unused longest goes first */
	ARGUMENTS_MAX = 64,  /* bytes an i386 function may take off by itself (`ret n`) */
	FOREIGN_MAX = 65536, /* calls kept on a stack whose order means nothing */
	INNER_CHECKS = 8,    /* innermost calls looked at whether their slots were used again */
	NEAR = 16384,	     /* bytes: a call so close above another is on the same stack */
	JUMP_MAX = 262144 /* bytes: who jumps farther within a mapping changes to another stack */
};

struct stack {
	uint64_t low, high;
	bool own;     /* the first one seen: the thread's own */
	bool single;  /* holds one stack only, whose order can be trusted */
	bool inner;   /* a signal stack inside of another one */
	size_t sites; /* calls with a site */
	struct vec calls;
};

struct callstacks {
	struct vec stacks; /* struct stack, most recently used last */
	const struct stack_view *view;
	void *context;
	size_t depth;
	size_t inner;	/* how many of the stacks are */
	bool exchanged; /* what is on the stacks is copied out and in */
};

struct callstacks *callstacks_create(const struct stack_view *view, void *context)
{
	struct callstacks *stacks = xcalloc(1, sizeof *stacks);

	vec_init(&stacks->stacks, sizeof(struct stack));
	stacks->view = view;
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
	struct callstacks *clone = callstacks_create(stacks->view, context);

	clone->depth = stacks->depth;
	clone->exchanged = stacks->exchanged;
	clone->inner = stacks->inner;
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
	if (call.site) {
		stacks->depth--;
		stack->sites--;
	}
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
	stacks->inner -= stack->inner;
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
	size_t found = count;

	if (count && !stacks->inner && contains(stack_at(stacks, count - 1), sp))
		return stack_at(stacks, count - 1);
	for (size_t i = count; i-- > 0;)
		if (contains(stack_at(stacks, i), sp) &&
		    (found == count || stack_at(stacks, i)->inner))
			found = i;
	if (found == count)
		return NULL;
	struct stack moved = *stack_at(stacks, found);

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
		struct stack part = *stack_at(stacks, i);

		if (part.high <= low || part.low >= high) {
			i++;
			continue;
		}
		joined.own |= part.own;
		joined.single = parts++ == 0 && part.single && part.high >= high;
		joined.sites += part.sites;
		joined.low = part.low < joined.low ? part.low : joined.low;
		joined.high = part.high > joined.high ? part.high : joined.high;
		for (size_t k = 0; k < part.calls.count; k++)
			vec_push(&joined.calls, call_at(&part, k));
		vec_deinit(&part.calls);
		vec_remove(&stacks->stacks, i);
	}
	return joined;
}

/* The stack to give up: the one unused longest, but not the thread's own. */
static size_t oldest(const struct callstacks *stacks)
{
	return stacks->stacks.count > 1 && stack_at(stacks, 0)->own;
}

/* ------------------------------------------------------------------ signal stacks inside of others */

/* Whether calls would be over because the thread is at `sp` of that stack. */
static bool leaves_calls(const struct stack *stack, uint64_t sp)
{
	return stack->single && stack->calls.count &&
	       call_at(stack, stack->calls.count - 1)->slot < sp;
}

/* The thread is on `stack`: signal stacks inside of it are not in use any more. */
static struct stack *end_inner(struct callstacks *stacks, struct stack *stack, call_popped *popped,
			       void *context)
{
	struct stack around = *stack;

	if (!stacks->inner || around.inner)
		return stack;
	for (size_t i = stacks->stacks.count; i-- > 0;) {
		const struct stack *inner = stack_at(stacks, i);

		if (inner->inner && inner->low >= around.low && inner->high <= around.high)
			drop_stack(stacks, i, popped, context);
	}
	return known_stack(stacks, around.low);
}

/* The stack that the thread, at `sp` in what was taken for `stack`, is really on. */
static struct stack *settle_stack(struct callstacks *stacks, struct stack *stack, uint64_t sp,
				  call_popped *popped, void *context)
{
	struct stack inner = {.single = true, .inner = true};

	if (!stack || stack->inner)
		return stack;
	if (!leaves_calls(stack, sp) || !stacks->view || !stacks->view->signal_stack ||
	    !stacks->view->signal_stack(stacks->context, sp, &inner.low, &inner.high) ||
	    !contains(&inner, sp) || inner.low < stack->low || inner.high > stack->high)
		return end_inner(stacks, stack, popped, context);
	if (stacks->stacks.count == STACKS_MAX)
		drop_stack(stacks, oldest(stacks), popped, context);
	vec_init(&inner.calls, sizeof(struct call));
	stacks->inner++;
	return vec_push(&stacks->stacks, &inner);
}

static struct stack *stack_of(struct callstacks *stacks, uint64_t sp, call_popped *popped,
			      void *context)
{
	struct stack *stack = known_stack(stacks, sp);
	uint64_t low;
	uint64_t high;

	if (stack)
		return settle_stack(stacks, stack, sp, popped, context);
	/* The first one is the thread's own. Unknown: as if there were one only. */
	bool single = false;

	if (!stacks->view || !stacks->view->bounds ||
	    !stacks->view->bounds(stacks->context, sp, &low, &high, &single)) {
		low = 0;
		high = UINT64_MAX;
	}
	single = !stacks->exchanged && (single || stacks->stacks.count == 0);
	struct stack made = take_overlapping(stacks, low, high, single);

	if (stacks->stacks.count == STACKS_MAX)
		drop_stack(stacks, oldest(stacks), popped, context);
	return vec_push(&stacks->stacks, &made);
}

/* ------------------------------------------------------------------ calls that are over */

/* Whether the slot still holds the return address, as far as can be seen. */
static bool is_intact(const struct callstacks *stacks, const struct call *call)
{
	uint64_t word = call->return_address;

	if (stacks->view && stacks->view->words)
		stacks->view->words(stacks->context, 1, &call->slot, &word);
	return word == call->return_address;
}

/* Whether a pending call is over, now that `call` is made. */
static bool is_over(const struct callstacks *stacks, const struct stack *stack,
		    const struct call *pending, const struct call *call)
{
	if (pending->slot < call->slot)
		return stack->single;
	if (pending->slot != call->slot)
		return false;
	if (stacks->exchanged && (pending->return_address != call->return_address ||
				  pending->preserved != call->preserved))
		return false;
	/* A hook and a site at one place make two calls of each call. */
	return pending->return_address != call->return_address ||
	       (pending->entry == call->entry && pending->hook == call->hook);
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

	if (!count || stacks->exchanged || !stacks->view || !stacks->view->words)
		return;
	for (size_t i = 0; i < count; i++) {
		slots[i] = call_at(stack, first + i)->slot;
		words[i] = call_at(stack, first + i)->return_address;
	}
	stacks->view->words(stacks->context, count, slots, words);
	for (size_t i = 0; i < count; i++) {
		uint64_t expected = call_at(stack, first + i)->return_address;

		over = (over && stack->single) || (expected && words[i] != expected);
		slots[i] = over;
	}
	for (size_t i = count; i-- > 0;)
		if (slots[i])
			pop(stacks, stack, first + i, false, popped, context);
}

/* The oldest call that is over takes what was made from it along. */
static void drop_over(struct callstacks *stacks, struct stack *stack, const struct call *call,
		      call_popped *popped, void *context)
{
	size_t first = stack->calls.count;

	for (size_t i = first; i-- > 0;) {
		if (stack->single && call_at(stack, i)->slot > call->slot)
			break;
		if (is_over(stacks, stack, call_at(stack, i), call))
			first = i;
	}
	for (size_t i = stack->calls.count; i-- > first;)
		if (stack->single ||
		    (call_at(stack, i)->slot == call->slot &&
		     (!stacks->exchanged || is_over(stacks, stack, call_at(stack, i), call))))
			pop(stacks, stack, i, false, popped, context);
	drop_overwritten(stacks, stack, popped, context);
	if (stack->calls.count >= FOREIGN_MAX && !stack->single)
		pop(stacks, stack, 0, false, popped, context);
}

/* How many calls with a site are around one at `slot`. */
static size_t depth_at(const struct callstacks *stacks, const struct stack *stack, uint64_t slot)
{
	const struct call *around = NULL;

	if (stack->single)
		return stack->sites;
	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = call_at(stack, i);

		if (call->slot >= slot && (stacks->exchanged || call->slot - slot <= NEAR) &&
		    (!around || call->slot < around->slot) && is_intact(stacks, call))
			around = call;
	}
	return around ? around->depth + (around->site != NULL) : 0;
}

/* ------------------------------------------------------------------ what happens to a thread */

struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context)
{
	struct stack *stack = stack_of(stacks, call->slot, popped, context);

	drop_over(stacks, stack, call, popped, context);
	size_t depth = depth_at(stacks, stack, call->slot);
	struct call *pushed = vec_push(&stack->calls, call);

	pushed->depth = (uint32_t)depth;
	if (call->site) {
		stacks->depth++;
		stack->sites++;
	}
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
		if (stack->single && call->slot > slot)
			break;
	}
	return NULL;
}

/*
 * The oldest call that returns to `pc` with its slot right below sp, of several with that slot the
 * one that the registers speak for; count when there is none.
 */
static size_t find_returned(const struct stack *stack, const struct arrival *arrival)
{
	size_t found = stack->calls.count;
	uint64_t reach = arrival->word + (arrival->word == 4 ? ARGUMENTS_MAX : 0);
	const struct call *best = NULL;

	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = call_at(stack, i);

		if (stack->single && call->slot >= arrival->sp)
			break;
		if (call->return_address != arrival->pc || call->slot >= arrival->sp ||
		    arrival->sp - call->slot > reach)
			continue;
		if (!best || call->slot > best->slot ||
		    (call->slot == best->slot && (call->preserved == arrival->preserved ||
						  best->preserved != arrival->preserved))) {
			best = call;
			found = i;
		}
	}
	return found;
}

bool callstacks_return(struct callstacks *stacks, const struct arrival *arrival,
		       call_popped *popped, void *context)
{
	struct stack *stack = known_stack(stacks, arrival->sp - arrival->word);
	size_t found = stack ? find_returned(stack, arrival) : 0;

	if (!stack || found == stack->calls.count)
		return false;
	stack = end_inner(stacks, stack, popped, context);
	found = find_returned(stack, arrival);
	const struct call first = *call_at(stack, found);
	bool returned = first.arrived || is_intact(stacks, &first);

	for (size_t i = stack->calls.count; i-- > found;) {
		const struct call *call = call_at(stack, i);
		bool together = call->slot == first.slot &&
				call->return_address == first.return_address &&
				(!stacks->exchanged || call->preserved == first.preserved);

		if (together || stack->single)
			pop(stacks, stack, i, together && returned, popped, context);
	}
	if (!stack->single)
		drop_overwritten(stacks, stack, popped, context);
	return true;
}

void callstacks_interrupted(struct callstacks *stacks, const struct arrival *arrival)
{
	struct stack *stack = known_stack(stacks, arrival->sp - arrival->word);
	size_t found = stack ? find_returned(stack, arrival) : 0;

	if (stack && found < stack->calls.count && is_intact(stacks, call_at(stack, found)))
		call_at(stack, found)->arrived = true;
}

void callstacks_leave(struct callstacks *stacks, uint64_t sp, call_popped *popped, void *context)
{
	struct stack *stack = known_stack(stacks, sp - 1);

	stack = settle_stack(stacks, stack, sp, popped, context);
	while (stack && leaves_calls(stack, sp))
		pop(stacks, stack, stack->calls.count - 1, false, popped, context);
	if (stack && !stack->single)
		drop_overwritten(stacks, stack, popped, context);
}

void callstacks_jump(struct callstacks *stacks, uint64_t sp, uint64_t target, call_popped *popped,
		     void *context)
{
	struct stack *stack = known_stack(stacks, target - 1);

	/* A jump to another stack may be how a coroutine gives way: it will be back. */
	if (!stack || !contains(stack, sp) || sp > target ||
	    (!stack->single && target - sp > JUMP_MAX)) {
		callstacks_leave(stacks, target, popped, context);
		return;
	}
	stack = end_inner(stacks, stack, popped, context);
	for (size_t i = stack->calls.count; i-- > 0;) {
		const struct call *call = call_at(stack, i);

		if (stack->single && call->slot >= target)
			break;
		/* What of a copied stack is at its place now is the jumping one's. */
		if (stack->single || (call->slot >= sp && call->slot < target &&
				      (!stacks->exchanged || is_intact(stacks, call))))
			pop(stacks, stack, i, false, popped, context);
	}
}

void callstacks_exchange(struct callstacks *stacks)
{
	if (stacks->exchanged)
		return;
	stacks->exchanged = true;
	for (size_t i = 0; i < stacks->stacks.count; i++)
		stack_at(stacks, i)->single = false;
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
