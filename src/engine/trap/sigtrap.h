/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP as the program sees it.
 *
 * A handler of ours takes the place of the program's own disposition (inferior/rescue.h), so that a
 * breakpoint hit does no harm when the tracer has been killed; the program's own is remembered,
 * shown to it when it asks, and put back at the end. And the kernel changes dispositions: when a
 * thread runs into an int3 while it blocks or ignores SIGTRAP, it resets the disposition to the
 * default and unblocks the signal, before the tracer hears of it. That is put right again.
 */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_H
#define TRACER_ENGINE_TRAP_SIGTRAP_H

#include "inferior/inferior.h"

/*
 * Finds out how the process of `thread` (at a clean stop) wants SIGTRAP and puts our handler in the
 * place of that. To be called when a program is first looked at, before the first breakpoint is
 * planted. 0, or the -errno with which there could be no handler: after the tracer's death
 * breakpoints would end the process.
 */
int sigtrap_begin(struct thread *thread);

/*
 * Gives the process of `thread` (at a clean stop) back its own disposition: 0 or -errno, with which
 * our handler is still in use.
 */
int sigtrap_end(struct thread *thread);

/*
 * `thread` is stopped at a breakpoint of ours, as it has run into it at the time `now`: puts its
 * mask right. thread->sigtrap_own says afterwards that a SIGTRAP of the program's, blocked and
 * pending, has taken the place of the breakpoint's. To be delivered when the thread is resumed: as
 * it is blocked again, the kernel puts it back then as it was.
 */
void sigtrap_hit(struct thread *thread, uint64_t now);

/*
 * Whether `thread`, stopped by a SIGTRAP behind a breakpoint, has hit that: the SIGTRAP is the
 * kernel's for an int3, or one of the program's own that has taken that one's place.
 */
bool sigtrap_is_hit(struct thread *thread);

/* The same for a single step of ours that has been made with `mask`. */
void sigtrap_stepped(struct thread *thread, uint64_t mask);

/*
 * Puts the disposition back that the kernel has reset at a breakpoint. To be called early, where
 * the thread has blocked the signal, and as the last thing before the thread is resumed.
 */
void sigtrap_repair(struct thread *thread);

/*
 * Delivers a SIGTRAP of the program's own, for which `thread` is stopped, past our handler: true
 * when that is done, with the thread stopped at the first instruction of the program's (STOP_TRAP),
 * or running, or with a stop that was kept (has_deferred). False: it is to be delivered like any
 * other signal.
 */
bool sigtrap_deliver(struct thread *thread);

/*
 * A new child has what its parent has; or had when the kernel began to make it: at its first stop,
 * before anything is planted for it, it is to be given what the parent has got since.
 */
void sigtrap_inherit(struct process *child, const struct process *parent);
void sigtrap_born(struct thread *thread);

/*
 * `thread` is about to call sigaction(): true when that is about SIGTRAP. sigtrap_called() must
 * then be called with what it has returned.
 */
bool sigtrap_will_call(struct thread *thread, const struct regs *regs);
void sigtrap_called(struct thread *thread, uint64_t result);

/*
 * Whether a call of sigaction() that `thread` is about to make has been answered: it is to return 0
 * without having been made. That is so where a child in its parent's memory asks for SIGTRAP's
 * disposition, or sets it to the default, as Python's subprocess does and as exec does anyway: with
 * our breakpoints there it needs our handler, should the tracer be killed.
 */
bool sigtrap_answered(const struct thread *thread, const struct regs *regs);

#endif
