/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last resort: stepping over a breakpoint with all other threads of the space stopped. */
#ifndef TRACER_ENGINE_TRAP_STEP_H
#define TRACER_ENGINE_TRAP_STEP_H

#include "engine/trap/breakpoint.h"

/*
 * Runs the instruction under `breakpoint` in place. `thread` stopped there; `regs` are its
 * registers, stored by this function. Afterwards the thread is stopped behind the instruction,
 * or has a stop of its own deferred (the instruction faulted, another signal came first). The
 * other threads run again. False when the instruction has not run: the thread will meet the
 * breakpoint again.
 */
bool step_past(struct thread *thread, struct breakpoint *breakpoint, struct regs *regs);

#endif
