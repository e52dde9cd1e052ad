/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breakpoint at a return address stays after the return, because the next call from there
 * needs it again. A module has a limited number of calls, and its breakpoints go when it is
 * unloaded. Generated code is different: it is written, discarded and written elsewhere for as
 * long as the program runs, and no event reports that. Each place that ever called a traced
 * function would keep its breakpoint, its journal entry and its XOL slot, and so the memory of the
 * slots in the tracee.
 *
 * So when there are twice as many breakpoints as at the last scan, the return breakpoints outside
 * of modules are scanned. One is kept if a pending call returns to it, if a thread may be in its
 * XOL slot, or if it was used for another call since the last scan. The others are removed; their
 * bytes are restored if the int3 is still there.
 *
 * A thread that was sent to an XOL slot has left it when it stops elsewhere. thread.slot is the
 * slot that the thread was sent to last, so only that slot can contain it.
 */
#include "engine/trap/return_breakpoints.h"

#include "engine/core/callstack.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/trap_state.h"
#include "tracee/arena.h"

#include <errno.h>

enum {
	ROOM = 1024, /* minimum of new breakpoints between two scans */
	STOP_MS = 200
};

static void describe(struct breakpoint *breakpoint, enum return_place place)
{
	breakpoint->is_return = true;
	breakpoint->is_pad = place == RETURN_AT_PAD;
	breakpoint->is_part = place == RETURN_TO_PART;
	breakpoint->verify = place == RETURN_ELSEWHERE;
}

/* ------------------------------------------------------------------ removal */

static void keep_return(void *context, const struct call *call)
{
	struct breakpoint *breakpoint = breakpoint_find(context, call->return_address);

	if (breakpoint)
		breakpoint->recent = true;
}

static void keep_of_thread(struct thread *thread, void *context)
{
	struct space *space = context;
	struct breakpoint *breakpoint = thread->trap->xol_slot
						? arena_owner(space->arena, thread->trap->xol_slot)
						: NULL;

	if (breakpoint)
		breakpoint->recent = true;
	if (thread->calls->stacks)
		callstacks_each(thread->calls->stacks, keep_return, space);
}

static bool is_over(const struct breakpoint *breakpoint)
{
	return breakpoint->verify && breakpoint->is_return && !breakpoint->recent &&
	       !breakpoint->site && !breakpoint->hook;
}

static void make_room(struct tracees *tracees, struct space *space)
{
	struct trap_space *traps = space->trap;
	struct vec over = VEC_OF(struct breakpoint *);
	size_t cursor = 0;
	void *value;

	if (!traps || traps->breakpoints.count < traps->full)
		return;
	space_each_thread(tracees, space, keep_of_thread, space);
	goroutines_each(space, keep_return, space);
	while (map_next(&traps->breakpoints, &cursor, NULL, &value)) {
		struct breakpoint *breakpoint = value;

		if (is_over(breakpoint))
			vec_push(&over, &breakpoint);
		breakpoint->recent = false;
	}
	for (size_t i = 0; i < over.count; i++)
		breakpoint_remove(space, *(struct breakpoint **)vec_at(&over, i));
	vec_deinit(&over);
	traps->full = 2 * traps->breakpoints.count + ROOM;
}

/* ------------------------------------------------------------------ planting */

/*
 * Returns true if a call to this return address needs no breakpoint there. `error` is
 * breakpoint_insert()'s.
 */
static bool is_needless(const struct space *space, uint64_t address, int error)
{
	uint8_t byte;

	switch (error) {
	case -EBUSY:
		/* The next function begins there, with an entry jump: the call does not return. */
	case -EEXIST:
		/* The program's own breakpoint instruction stops the thread, too. */
		return true;
	case -EFAULT:
		/* If code ends there, no call can return to it. */
		return memory_read_exact(&space->memory, address - 1, &byte, sizeof byte);
	default:
		return false;
	}
}

int return_breakpoints_plant(struct decoder *decoder, const struct engine_events *events,
			     struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;
	struct breakpoint *breakpoint = breakpoint_find(space, address);
	enum return_place place = RETURN_IN_MODULE;
	int error = 0;

	if (!breakpoint || !breakpoint->is_return)
		place = events->return_place(events->context, space, address);
	if (place == RETURN_NOWHERE || place == RETURN_NOWHERE_UNDESCRIBED)
		return 0;
	if (breakpoint)
		breakpoint->recent = true;
	if (!breakpoint) {
		make_room(thread->process->tracees, space);
		error = breakpoint_insert(decoder, thread, address, &breakpoint);
	} else if (breakpoint->verify) {
		error = breakpoint_verify(decoder, thread, breakpoint);
		breakpoint = breakpoint_find(space, address);
	}
	if (error)
		return is_needless(space, address, error) ? 0 : error;
	if (!breakpoint->is_return)
		describe(breakpoint, place);
	return 0;
}

/* The search for threads that may be in the XOL slot of a breakpoint. */
struct inside {
	const struct thread *thread; /* not inside: stopped elsewhere */
	uint64_t slot;
	bool found;
};

static void keep_pending(struct thread *thread, void *context)
{
	if (thread->calls->stacks)
		callstacks_each(thread->calls->stacks, keep_return, context);
}

static void look_inside(struct thread *thread, void *context)
{
	struct inside *inside = context;
	struct regs regs;
	uint64_t slot;

	if (thread == inside->thread || thread->trap->xol_slot != inside->slot)
		return;
	if (thread_stop(thread->process->tracees, thread, STOP_MS) != 0 ||
	    regs_load(thread->tid, &regs) != 0)
		inside->found = true;
	else
		inside->found |= arena_xol_slot_at(thread->process->space->arena, regs.pc, &slot) &&
				 slot == inside->slot;
}

void return_breakpoints_drop(struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;
	struct tracees *tracees = thread->process->tracees;
	struct breakpoint *breakpoint = breakpoint_find(space, address);

	if (!breakpoint || breakpoint->site || breakpoint->hook)
		return;
	struct inside inside = {thread, breakpoint->xol_slot, false};

	breakpoint->recent = false;
	space_each_thread(tracees, space, keep_pending, space);
	goroutines_each(space, keep_return, space);
	if (!breakpoint->recent && breakpoint->xol_slot)
		space_each_thread(tracees, space, look_inside, &inside);
	if (!breakpoint->recent && !inside.found)
		breakpoint_remove(space, breakpoint);
}
