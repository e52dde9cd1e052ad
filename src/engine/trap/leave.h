/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Undoes all changes to a space: see leave.c. */
#ifndef TRACER_ENGINE_TRAP_LEAVE_H
#define TRACER_ENGINE_TRAP_LEAVE_H

#include "engine/trap/trap.h"

/*
 * Undoes every change to a space whose threads are all stopped, moves their pcs out of the
 * tracer's memory and unmaps it. Used for detaching and for children that are not followed. A
 * thread with a pending int3 stop is set back to the instruction, so that no SIGTRAP has to be
 * delivered to it.
 */
void trap_leave(struct tracees *tracees, struct space *space);

/*
 * Of a stopped thread: it is outside of the tracer's code, and no frame on its stack leads back
 * there, as was found out with all threads stopped. trap_leave() then need not look at the stack.
 */
void trap_note_outside(struct thread *thread, bool is_outside);
bool trap_is_outside(const struct thread *thread);

#endif
