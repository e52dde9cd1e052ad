/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints at the places that traced calls return to. */
#ifndef TRACER_ENGINE_TRAP_RETURNS_H
#define TRACER_ENGINE_TRAP_RETURNS_H

#include "engine/engine.h"

struct decoder;

/*
 * Makes sure that `thread`, which is stopped, stops again if it comes back to `address`. 0, or
 * -errno as breakpoint_insert(). Where nobody can come back to there is no breakpoint.
 * Breakpoints that have only been places of return may be taken away to make room: pointers to
 * these are no longer good.
 */
int returns_plant(struct decoder *decoder, const struct engine_events *events,
		  struct thread *thread, uint64_t address);

/*
 * A thread came by at a place where no call of its own returned. When no call of any thread will
 * return there, the breakpoint is taken out: for where most calls are caught by other means, and
 * would stop there each time.
 */
void returns_drop(struct thread *thread, uint64_t address);

#endif
