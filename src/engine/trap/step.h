/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps a thread over a breakpoint while all other threads of the space are stopped. Used only if
 * the instruction can be neither displaced nor emulated.
 */
#ifndef TRACER_ENGINE_TRAP_STEP_H
#define TRACER_ENGINE_TRAP_STEP_H

#include "engine/trap/breakpoint.h"

/*
 * Runs the instruction under `breakpoint` in place. `thread` has stopped there; `regs` are its
 * registers, which this function stores. Afterwards the thread is stopped behind the instruction,
 * or has a deferred stop (the instruction faulted, another signal came first). The stops of the
 * other threads are deferred. Returns false if the instruction has not run: the thread will hit
 * the breakpoint again.
 */
bool step_past(struct thread *thread, struct breakpoint *breakpoint, struct regs *regs);

#endif
