/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's own SIGTRAP. When a thread runs into an int3 while it blocks or ignores SIGTRAP, the
 * kernel makes sure that the signal cannot be missed: it resets the disposition to the default and
 * unblocks the signal, before the tracer hears of it. Here that is put right again.
 */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_H
#define TRACER_ENGINE_TRAP_SIGTRAP_H

#include "inferior/inferior.h"

/*
 * Finds out how the process of `thread` (at a clean stop) wants SIGTRAP. To be called when it is
 * first looked at and whenever it may have changed that.
 */
void sigtrap_learn(struct thread *thread);

/*
 * Puts the disposition and the mask back if our breakpoint, at which `thread` is stopped, made the
 * kernel change them. The last thing to be done before the thread is resumed.
 */
void sigtrap_repair(struct thread *thread);

/* A forked child has what its parent has. */
void sigtrap_inherit(struct process *child, const struct process *parent);

/*
 * `thread` is about to call sigaction() (`by_struct`) or signal(): true when that will change what
 * happens at SIGTRAP. sigtrap_changed() must then be called when it has returned.
 */
bool sigtrap_will_change(const struct thread *thread, const struct regs *regs, bool by_struct);
void sigtrap_changed(struct thread *thread);

#endif
