/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What address spaces and forked threads have of the trap engine. */
#include "engine/trap/breakpoint.h"
#include "engine/trap/callstack.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/trap.h"

void trap_fork(struct space *child_space, const struct space *parent_space)
{
	breakpoints_copy(child_space, parent_space);
}

void trap_fork_thread(struct thread *child, const struct thread *parent)
{
	if (parent->calls)
		child->calls = callstacks_clone(parent->calls, child);
	child->cost = parent->cost;
	child->interrupted = parent->interrupted;
}

void trap_stacks_exchanged(struct space *space)
{
	if (!space->trap)
		space->trap = trap_space_create();
	space->trap->exchanged = true;
}

void trap_calls_are_left(struct space *space)
{
	if (!space->trap)
		space->trap = trap_space_create();
	space->trap->leaves = true;
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
