/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP as the program sees it.
 *
 * A handler of ours takes the place of the program's own disposition (inferior/rescue.h), so that a
 * breakpoint hit does no harm when the tracer has been killed; the program's own is remembered, shown
 * to it when it asks, and put back at the end. And the kernel changes dispositions: when a thread runs
 * into an int3 while it blocks or ignores SIGTRAP, it resets the disposition to the default and
 * unblocks the signal, before the tracer hears of it. That is put right again.
 */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_H
#define TRACER_ENGINE_TRAP_SIGTRAP_H

#include "inferior/inferior.h"

/*
 * Finds out how the process of `thread` (at a clean stop) wants SIGTRAP and puts our handler in the
 * place of that. To be called when a program is first looked at, before the first breakpoint is planted.
 */
void sigtrap_begin(struct thread *thread);

/*
 * Gives the process of `thread` (at a clean stop) back its own disposition: 0 or -errno, with which
 * our handler is still in use.
 */
int sigtrap_end(struct thread *thread);

/*
 * Puts the disposition and the mask back if our breakpoint, at which `thread` is stopped, made the
 * kernel change them. The last thing to be done before the thread is resumed; `now` is the time.
 */
void sigtrap_repair(struct thread *thread, uint64_t now);

/*
 * A new child has what its parent has; or had when the kernel began to make it: at its first stop, before
 * anything is planted for it, it is to be given what the parent has got since.
 */
void sigtrap_inherit(struct process *child, const struct process *parent);
void sigtrap_born(struct thread *thread);

/*
 * `thread` is about to call sigaction(): true when that is about SIGTRAP. sigtrap_called() must
 * then be called with what it has returned.
 */
bool sigtrap_will_call(struct thread *thread, const struct regs *regs);
void sigtrap_called(struct thread *thread, uint64_t result);

#endif
