/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trap engine's state of address spaces and forked threads: creation, copying, end. */
#include "engine/trap/spaces.h"

#include "engine/core/callstack.h"
#include "engine/core/stackset.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/trap_state.h"

void trap_thread_made(const struct thread *maker, struct thread *made)
{
	made->trap->xol_slot = maker->trap->xol_slot;
}

bool trap_has_calls(const struct thread *thread)
{
	return thread->calls->stacks;
}

void trap_fork(struct space *child_space, const struct space *parent_space)
{
	breakpoints_copy(child_space, parent_space);
}

void trap_fork_thread(struct thread *child, const struct thread *parent)
{
	if (parent->calls->stacks)
		child->calls->stacks = callstacks_clone(parent->calls->stacks, child);
	child->calls->cost = parent->calls->cost;
	child->calls->shown = parent->calls->shown;
	child->syscall_stops = parent->syscall_stops;
}

void trap_stacks_exchanged(struct space *space)
{
	trap_space_of(space)->exchanged = true;
}

void trap_calls_are_left(struct space *space)
{
	trap_space_of(space)->leaves = true;
}

void trap_suspend(struct space *space)
{
	breakpoints_lift(space);
}

void trap_restore(struct space *space)
{
	breakpoints_lower(space);
}

void trap_space_gone(struct space *space)
{
	goroutines_forget(space);
	trap_space_destroy(space->trap);
	space->trap = NULL;
}
