/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breakpoint at a return address stays when the call has returned, as the next call from there
 * will need it. A module has so many calls, and when it goes its breakpoints go. Generated code is
 * different: it is written, thrown away and written elsewhere for as long as the program runs, and
 * nobody tells. Each place that ever called a traced function would keep its breakpoint, its entry
 * in the journal and its slot, and with them the memory that the slots take in the tracee.
 *
 * So when there are twice as many breakpoints as at the last look, those at return addresses
 * outside of modules are looked through. One is kept when a pending call returns to it, when a
 * thread may be in its slot, and when somebody called from there again since the last look: what is
 * hot stays. The others are taken out, their bytes put back if they are still ours.
 *
 * A thread that was sent into a slot is out of it when it has stopped somewhere else. Which slot it
 * was sent to last is known (thread.slot), so only that one can have it inside.
 */
#include "engine/trap/returns.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/callstack.h"
#include "engine/trap/goroutines.h"
#include "inferior/arena.h"

#include <errno.h>

enum {
	ROOM = 1024, /* at least so many new breakpoints between two looks */
	STOP_MS = 200
};

static void describe(struct breakpoint *breakpoint, enum return_place place)
{
	breakpoint->is_return = true;
	breakpoint->is_pad = place == RETURN_AT_PAD;
	breakpoint->is_part = place == RETURN_TO_PART;
	breakpoint->verify = place == RETURN_ELSEWHERE;
}

/* ------------------------------------------------------------------ those that are over */

static void keep_return(void *context, const struct call *call)
{
	struct breakpoint *breakpoint = breakpoint_find(context, call->return_address);

	if (breakpoint)
		breakpoint->recent = true;
}

static void keep_of_thread(struct thread *thread, void *context)
{
	struct space *space = context;
	struct breakpoint *breakpoint = thread->slot ? arena_owner(space->arena, thread->slot)
						     : NULL;

	if (breakpoint)
		breakpoint->recent = true;
	if (thread->calls)
		callstacks_each(thread->calls, keep_return, space);
}

static bool is_over(const struct breakpoint *breakpoint)
{
	return breakpoint->verify && breakpoint->is_return && !breakpoint->recent &&
	       !breakpoint->site && !breakpoint->hook;
}

static void make_room(struct inferior *inferior, struct space *space)
{
	struct trap_space *traps = space->trap;
	struct vec over = VEC_OF(struct breakpoint *);
	size_t cursor = 0;
	void *value;

	if (!traps || traps->breakpoints.count < traps->full)
		return;
	space_each_thread(inferior, space, keep_of_thread, space);
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

/* Whether it may be known of a call, without a breakpoint at `address`, that it has returned. */
static bool is_needless(const struct space *space, uint64_t address, int error)
{
	uint8_t byte;

	switch (error) {
	case -EBUSY:
		/* The next function begins there, and is caught inside: nobody comes back. */
	case -EEXIST:
		/* The program's own breakpoint instruction stops the thread, too. */
		return true;
	case -EFAULT:
		/* Code ends there: nobody can come back. */
		return memory_read_exact(&space->memory, address - 1, &byte, sizeof byte);
	default:
		return false;
	}
}

int returns_plant(struct decoder *decoder, const struct engine_events *events,
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
		make_room(thread->process->inferior, space);
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

/* Threads that may be in the slot of a breakpoint. */
struct inside {
	const struct thread *thread; /* that is surely not */
	uint64_t slot;
	bool found;
};

static void keep_pending(struct thread *thread, void *context)
{
	if (thread->calls)
		callstacks_each(thread->calls, keep_return, context);
}

static void look_inside(struct thread *thread, void *context)
{
	struct inside *inside = context;
	struct regs regs;
	uint64_t slot;

	if (thread == inside->thread || thread->slot != inside->slot)
		return;
	if (thread_stop(thread->process->inferior, thread, STOP_MS) != 0 ||
	    regs_load(thread->tid, &regs) != 0)
		inside->found = true;
	else
		inside->found |= arena_slot_at(thread->process->space->arena, regs.pc, &slot) &&
				 slot == inside->slot;
}

void returns_drop(struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;
	struct inferior *inferior = thread->process->inferior;
	struct breakpoint *breakpoint = breakpoint_find(space, address);

	if (!breakpoint || breakpoint->site || breakpoint->hook)
		return;
	struct inside inside = {thread, breakpoint->slot, false};

	breakpoint->recent = false;
	space_each_thread(inferior, space, keep_pending, space);
	goroutines_each(space, keep_return, space);
	if (!breakpoint->recent && breakpoint->slot)
		space_each_thread(inferior, space, look_inside, &inside);
	if (!breakpoint->recent && !inside.found)
		breakpoint_remove(space, breakpoint);
}
