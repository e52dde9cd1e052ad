/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug registers for more than words that are written to (trap_watch()). */
#ifndef TRACER_ENGINE_TRAP_WATCH_H
#define TRACER_ENGINE_TRAP_WATCH_H

#include "engine/trap/trap.h"

/*
 * Makes `thread`, stopped, stop in front of the instructions at these addresses (0: none), with a
 * SIGTRAP of TRAP_HWBKPT, and at no write, until watch_again(). 0, or -errno: as before, it has no
 * debug registers.
 */
int watch_exits(struct thread *thread, const uint64_t exits[TRAP_EXITS]);
/* Stops at what the space watches again, and at nothing else. */
void watch_again(struct thread *thread);
/*
 * Serves the stop of a thread that has written to watched memory, if that is why it stopped; DR6
 * says where.
 */
bool watch_serve(const struct engine_events *events, struct thread *thread);

#endif
