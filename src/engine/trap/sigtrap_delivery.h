/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A SIGTRAP of the program's own is delivered past the tracer's handler. */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_DELIVERY_H
#define TRACER_ENGINE_TRAP_SIGTRAP_DELIVERY_H

#include "tracee/tracee.h"

/*
 * Delivers a SIGTRAP of the program's own, for which `thread` is stopped, without a run of the
 * tracer's handler. Returns true if that was done: the thread is stopped at the first instruction
 * of the program's handler (STOP_TRAP), or running, or has a deferred stop (has_deferred). Returns
 * false if the signal is to be delivered like any other.
 */
bool sigtrap_deliver(struct thread *thread);

#endif
