/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints at the return addresses of traced calls. */
#ifndef TRACER_ENGINE_TRAP_RETURN_BREAKPOINTS_H
#define TRACER_ENGINE_TRAP_RETURN_BREAKPOINTS_H

#include "engine/core/engine.h"

struct decoder;

/*
 * Makes sure that `thread`, which is stopped, stops again when it returns to `address`. Returns 0,
 * or -errno as breakpoint_insert(). Plants nothing, and returns 0, where no call can return to.
 * May remove breakpoints that are only return breakpoints, to make room: pointers to them become
 * invalid.
 */
int return_breakpoints_plant(struct decoder *decoder, const struct engine_events *events,
			     struct thread *thread, uint64_t address);

/*
 * A thread has stopped at a return address where no call of its own returned. Removes the
 * breakpoint if no pending call of any thread returns there. Needed where most calls are caught
 * without a stop, and each of them would stop there.
 */
void return_breakpoints_drop(struct thread *thread, uint64_t address);

#endif
