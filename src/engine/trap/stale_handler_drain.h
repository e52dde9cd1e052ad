/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lets threads out of the SIGTRAP handlers of killed tracers. */
#ifndef TRACER_ENGINE_TRAP_STALE_HANDLER_DRAIN_H
#define TRACER_ENGINE_TRAP_STALE_HANDLER_DRAIN_H

#include "tracee/tracee.h"

/*
 * Lets all threads of the process of `thread` run out of the handlers whose blocks (`blocks`,
 * `count`) rescue_absorb() has found. `thread` is at a safe stop, and is so again afterwards.
 * These handlers remove breakpoints at the addresses of their own tracer, and would remove this
 * tracer's there. Must be called after rescue_absorb(), which makes them return soon, and before
 * the first breakpoint is planted. The wait is bounded, so a thread may stay in a handler.
 */
void stale_handlers_drain(struct thread *thread, const uint64_t *blocks, size_t count);

#endif
