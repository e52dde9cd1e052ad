/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug registers: watched words (trap_watch()) and exits of the tracer's code. */
#ifndef TRACER_ENGINE_TRAP_WATCH_H
#define TRACER_ENGINE_TRAP_WATCH_H

#include "engine/trap/trap.h"

/*
 * Makes the stopped `thread` stop before the instructions at these addresses (0: unused), with a
 * SIGTRAP of TRAP_HWBKPT, and at no write, until watch_again(). Returns 0, or -errno if there are
 * no debug registers: nothing has changed.
 */
int watch_exits(struct thread *thread, const uint64_t exits[TRAP_EXITS]);
/* Arms the watches of the space again, and nothing else. */
void watch_again(struct thread *thread);
/*
 * Handles the stop of a thread that has written to watched memory, by DR6. Returns false if the
 * thread has stopped for another reason.
 */
bool watch_serve(const struct engine_events *events, struct thread *thread);

/* Arms the debug registers that the thread should have by its space's watches, if they differ. */
void trap_thread_sync(struct thread *thread);
/*
 * Watches `address` (one pointer, aligned) for writes by debug registers: in the stopped thread at
 * once, in other threads from their next stop on. Returns 0, -EINVAL if misaligned, -ENOSPC if no
 * register is free.
 */
int trap_watch(struct thread *thread, uint64_t address);
void trap_unwatch(struct space *space, uint64_t address);
/*
 * Clears the debug registers of a stopped thread that is about to be let go, if they may be in use.
 */
void trap_clear_watched(const struct thread *thread);
/* The thread has called exec, which has cleared its debug registers. */
void trap_forget_watched(struct thread *thread);
/* The debug registers of the thread may be in use by a tracer that was killed. */
void trap_assume_watched(struct thread *thread);

#endif
