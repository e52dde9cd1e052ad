/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pending calls of one thread, kept apart by the stack they were made on, and matched with
 * returns by stack pointer.
 */
#ifndef TRACER_ENGINE_TRAP_CALLSTACK_H
#define TRACER_ENGINE_TRAP_CALLSTACK_H

#include "record/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hook;
struct probe_site;

struct call {
	uint64_t slot; /* where on the stack the return address is */
	uint64_t return_address;
	uint64_t entry;		       /* address of the breakpoint */
	const struct probe_site *site; /* NULL for hooks */
	struct hook *hook;
	struct capture_saved *saved; /* owned, or NULL */
	uint64_t number;	     /* record.call */
	uint64_t start;		     /* clock when the thread went on */
	uint64_t cost;		     /* thread->cost at that time */
	uint32_t depth;
	bool restarted; /* a signal put the pc back before the first instruction ran */
};

struct callstacks;

/*
 * Finds the bounds of the stack that `sp` is in: false when it is in no mapping. Called only
 * when sp leaves all known stacks.
 */
typedef bool stack_bounds(void *context, uint64_t sp, uint64_t *low, uint64_t *high);

struct callstacks *callstacks_create(stack_bounds *bounds, void *context);
void callstacks_destroy(struct callstacks *stacks);
/* For a forked child, which returns from the same calls. */
struct callstacks *callstacks_clone(const struct callstacks *stacks, void *context);

/* What becomes of calls that are popped: they returned, or were left in another way. */
typedef void call_popped(void *context, const struct call *call, bool returned);

/*
 * Pushes a call; the copy's place is returned, good until the next change. Calls that can no
 * longer be pending are popped first, as left: those deeper on the same stack, one at the same
 * slot with another return address, and one of the same entry and hook at the same slot (it was
 * left by longjmp and is made again).
 */
struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context);

/* The pending call at `slot` with these properties, or NULL: a call that starts again. */
struct call *callstacks_find(struct callstacks *stacks, uint64_t slot, uint64_t return_address,
			     uint64_t entry);

/*
 * The thread arrived at `pc` with `sp`, the return address and possibly arguments already taken
 * off. Pops the call that returned there and, as returned too, those that tail-called into it;
 * deeper ones as left. False when no pending call returns here.
 */
bool callstacks_return(struct callstacks *stacks, uint64_t pc, uint64_t sp, unsigned word,
		       call_popped *popped, void *context);

/* The thread is known to be at `sp` without having returned: pops, as left, what lies deeper. */
void callstacks_leave(struct callstacks *stacks, uint64_t sp, call_popped *popped, void *context);

/* Pops everything, as left. */
void callstacks_unwind(struct callstacks *stacks, call_popped *popped, void *context);

/* Shows each pending call, in no order. */
typedef void call_visit(void *context, const struct call *call);
void callstacks_each(const struct callstacks *stacks, call_visit *visit, void *context);

/* How many calls with a site are pending. */
size_t callstacks_depth(const struct callstacks *stacks);

#endif
