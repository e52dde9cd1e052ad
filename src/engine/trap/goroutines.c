/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pending calls of Go's functions.
 *
 * A goroutine is no thread. It can be taken from one thread and go on in another between any two
 * instructions (its runtime preempts it by a signal), so a call made in one thread may return in
 * another. And its stack moves: when a function finds too little room it calls runtime.morestack,
 * which copies the stack to a larger one; the collector copies it to a smaller one. Then the
 * return address of a pending call stands at another address. It stands as far from the upper end
 * of the stack as before, since stacks grow downwards and are copied from that end on.
 *
 * So calls made in code of Go's belong to the goroutine, by the address of its `g`, and are known
 * by that distance: struct call.slot is TOP minus it, which orders calls as addresses do.
 *
 * The register r14 holds the `g` wherever a function of Go's is entered or returned to, since
 * Go 1.17 (cmd/compile/abi-internal.md). Functions in assembler may use it for something else.
 * `g` begins with the bounds of its stack, { lo, hi }, in all versions (runtime/runtime2.go); so
 * what r14 holds is a `g` if the stack pointer is between what it points to. Where it is not, the
 * goroutine with pending calls is taken on whose stack the thread is; where there is none, the
 * calls are the thread's, as those of C. On the stack of a thread's scheduler Go runs a `g` of its
 * own (g0), as in signal handlers (gsignal): these are goroutines to us, too.
 *
 * A `g` is used again when its goroutine has ended. What that one left pending, by
 * runtime.Goexit() or a panic, is found to be over like what longjmp leaves (callstack.c).
 *
 * The program may write what it likes to r14 and to a `g`: that mixes up its own calls, of which
 * there are not more than the limits below.
 */
#include "engine/trap/goroutines.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/stackview.h"

#include "base/xalloc.h"

#include <stdlib.h>

enum { GOROUTINES_MAX = 1 << 20 };

/* What struct call.slot would be at the upper end of a stack. */
static const uint64_t TOP = UINT64_C(1) << 62;
static const uint64_t STACK_MAX = UINT64_C(1) << 31; /* bytes; Go's own limit is a GiB */

struct goroutine {
	const struct space *space;
	uint64_t g;
	uint64_t high; /* the upper end of its stack, as it was at its last stop */
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

/* There is one stack, whose ends do not matter. */
static const struct stack_view view = {.words = words};

struct keeping keeping_of_thread(struct thread *thread)
{
	return (struct keeping){.calls = &thread->calls, .cost = &thread->cost};
}

static struct keeping of_goroutine(struct goroutine *goroutine)
{
	return (struct keeping){.calls = &goroutine->calls,
				.cost = &goroutine->cost,
				.shift = TOP - goroutine->high,
				.goroutine = goroutine};
}

/* Whether `g` is one that has its stack around `sp`, which ends at *high. */
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

/* One that is known, by what may be its `g`, or else by its stack; NULL: none is. */
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
	else if (!*keeping->calls)
		*keeping->calls = callstacks_create(&stackview_thread, thread);
	return *keeping->calls;
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

	/* On top of the stack is where morestack returns to, and then that function itself. */
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
