/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pending calls of Go functions.
 *
 * A goroutine is not a thread. It can move from one thread to another between any two instructions
 * (the runtime preempts it by a signal), so a call made in one thread may return in another. Its
 * stack moves, too: a function that finds too little room calls runtime.morestack, which copies
 * the stack to a larger one, and the garbage collector copies it to a smaller one. Then the return
 * address of a pending call is at another address. Its distance from the upper end of the stack is
 * unchanged, because stacks grow downwards and are copied from that end on.
 *
 * So calls made in Go code belong to the goroutine, which is identified by the address of its `g`.
 * The struct call.slot of such a call is TOP minus that distance, which orders calls as addresses
 * do.
 *
 * Since Go 1.17 the register r14 holds the `g` wherever a Go function is entered or returned to
 * (cmd/compile/abi-internal.md). Functions in assembler may use r14 otherwise. In all versions `g`
 * begins with the bounds of its stack, { lo, hi } (runtime/runtime2.go), so r14 is taken for a `g`
 * if sp is between these bounds. If not, the goroutine with pending calls whose stack contains sp
 * is taken. If there is none, the calls are the thread's, like those of C. On a thread's scheduler
 * stack and in signal handlers Go runs separate `g`s (g0, gsignal): here they count as goroutines,
 * too.
 *
 * A `g` is reused when its goroutine has ended. Calls that the old goroutine left pending, by
 * runtime.Goexit() or a panic, are dropped like calls that longjmp() leaves (callstack.c).
 *
 * A program that writes arbitrary values to r14 and to a `g` confuses only its own calls, whose
 * number is bounded by the limits below.
 */
#include "engine/trap/goroutines.h"

#include "base/xalloc.h"
#include "engine/core/call_tracker.h"
#include "engine/core/callstack.h"
#include "engine/core/stackset.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"

#include <stdlib.h>

enum { GOROUTINES_MAX = 1 << 20 };

/* The struct call.slot of the upper end of a stack. */
static const uint64_t TOP = UINT64_C(1) << 62;
static const uint64_t STACK_MAX = UINT64_C(1) << 31; /* bytes; Go's own limit is a GiB */

struct goroutine {
	const struct space *space;
	uint64_t g;
	uint64_t high; /* the upper end of its stack at its last stop */
	struct callstacks *calls;
	uint64_t cost;
};

static void words(void *context, size_t count, const uint64_t *slots, uint64_t *found)
{
	const struct goroutine *goroutine = context;
	const struct memory_source *memory = &goroutine->space->memory;
	struct memory_range ranges[STACK_VIEW_WORDS];
	uint64_t read[STACK_VIEW_WORDS];

	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct memory_range){.address = slots[i] - TOP + goroutine->high,
						  .buffer = &read[i],
						  .length = sizeof read[i]};
	memory->readv(memory->context, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].done == sizeof read[i])
			found[i] = read[i];
}

/* A goroutine has one stack, whose bounds do not matter. */
static const struct stack_view view = {.words = words};

struct keeping keeping_of_thread(struct thread *thread)
{
	return (struct keeping){.calls = &thread->calls->stacks, .cost = &thread->calls->cost};
}

static struct keeping of_goroutine(struct goroutine *goroutine)
{
	return (struct keeping){.calls = &goroutine->calls,
				.cost = &goroutine->cost,
				.shift = TOP - goroutine->high,
				.goroutine = goroutine};
}

/* Returns true if `g` has a stack that contains `sp`; stores its upper end in *high. */
static bool has_stack(const struct space *space, uint64_t g, uint64_t sp, uint64_t *high)
{
	uint64_t bounds[2];

	if (!g || g % sizeof bounds[0] ||
	    !memory_read_exact(&space->memory, g, bounds, sizeof bounds))
		return false;
	*high = bounds[1];
	return bounds[0] && bounds[0] <= sp && sp <= bounds[1] &&
	       bounds[1] - bounds[0] <= STACK_MAX;
}

/* Finds a known goroutine by its presumed `g`, or else by its stack; NULL if there is none. */
static struct goroutine *find(const struct space *space, uint64_t g, uint64_t sp)
{
	struct goroutine *known = map_get(&space->trap->goroutines, g);
	size_t cursor = 0;
	uint64_t high;
	void *value;

	if (known && has_stack(space, g, sp, &high)) {
		known->high = high;
		return known;
	}

	while (map_next(&space->trap->goroutines, &cursor, NULL, &value)) {
		struct goroutine *goroutine = value;

		if (!has_stack(space, goroutine->g, sp, &high))
			continue;
		goroutine->high = high;
		return goroutine;
	}
	return NULL;
}

struct keeping keeping_of_goroutine(struct thread *thread, const struct regs *regs)
{
	struct space *space = thread->process->space;
	const struct abi *go = space->arch->go;
	struct map *known = &space->trap->goroutines;
	uint64_t high;

	if (!go)
		return keeping_of_thread(thread);
	const uint64_t g = regs->r[go->goroutine];
	const uint64_t sp = regs->r[REG_SP];

	struct goroutine *goroutine = find(space, g, sp);

	if (goroutine)
		return of_goroutine(goroutine);
	if (!has_stack(space, g, sp, &high) || known->count >= GOROUTINES_MAX)
		return keeping_of_thread(thread);
	goroutine = xcalloc(1, sizeof *goroutine);
	goroutine->space = space;
	goroutine->g = g;
	goroutine->high = high;
	map_put(known, g, goroutine);
	return of_goroutine(goroutine);
}

struct callstacks *keeping_calls(const struct keeping *keeping, struct thread *thread)
{
	if (!*keeping->calls && keeping->goroutine)
		*keeping->calls = callstacks_create(&view, keeping->goroutine);
	return keeping->goroutine ? *keeping->calls : call_tracker_calls(thread);
}

static void drop(struct goroutine *goroutine)
{
	callstacks_destroy(goroutine->calls);
	free(goroutine);
}

void keeping_release(const struct keeping *keeping, struct space *space)
{
	struct goroutine *goroutine = keeping->goroutine;

	if (!goroutine || (goroutine->calls && !callstacks_are_empty(goroutine->calls)))
		return;
	map_remove(&space->trap->goroutines, goroutine->g);
	drop(goroutine);
}

void goroutine_restarts(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct regs regs;

	if (!space->trap || !space->arch->go || regs_load(thread->tid, &regs) != 0)
		return;
	const uint64_t sp = regs.r[REG_SP];
	struct goroutine *goroutine = find(space, regs.r[space->arch->go->goroutine], sp);

	/* At sp is morestack's return address, and behind it the function's own. */
	if (goroutine && goroutine->calls)
		callstacks_restart(goroutine->calls,
				   sp + sizeof(uint64_t) + of_goroutine(goroutine).shift);
}

void goroutines_each(const struct space *space, call_visit *visit, void *context)
{
	size_t cursor = 0;
	void *value;

	while (space->trap && map_next(&space->trap->goroutines, &cursor, NULL, &value)) {
		const struct goroutine *goroutine = value;

		if (goroutine->calls)
			callstacks_each(goroutine->calls, visit, context);
	}
}

void goroutines_forget(struct space *space)
{
	size_t cursor = 0;
	void *value;

	if (!space->trap)
		return;
	while (map_next(&space->trap->goroutines, &cursor, NULL, &value))
		drop(value);
	map_deinit(&space->trap->goroutines);
	space->trap->goroutines = (struct map){0};
}
