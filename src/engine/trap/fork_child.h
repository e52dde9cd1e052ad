/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairs the breakpoints of a forked child: see fork_child.c. */
#ifndef TRACER_ENGINE_TRAP_FORK_CHILD_H
#define TRACER_ENGINE_TRAP_FORK_CHILD_H

#include "engine/trap/breakpoint.h"
#include "engine/trap/trap.h"

/*
 * In fork_child.c: makes the memory of a space agree with the tracer's tables. `thread` is at a
 * safe stop.
 */
void breakpoints_complete(struct decoder *decoder, struct thread *thread);
/*
 * Must be called at the first stop of a forked child, before anything is mapped in it: forgets
 * what the copied tables contain and the child's memory does not. See space_forget_missing().
 */
void trap_forget_missing(struct space *space);

#endif
