/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP as the program sees it.
 *
 * The tracer's SIGTRAP handler (recovery/rescue.h) replaces the program's own disposition, so that
 * a breakpoint hit does no harm after the tracer was killed. The program's own disposition is
 * remembered, shown to the program when it asks, and restored at the end. And when a thread hits an
 * int3 while it blocks or ignores SIGTRAP, the kernel resets the disposition to the default and
 * unblocks the signal before the tracer sees the stop. Both are repaired here.
 */
#ifndef TRACER_ENGINE_TRAP_SIGTRAP_H
#define TRACER_ENGINE_TRAP_SIGTRAP_H

#include "tracee/tracee.h"

struct journal_subject;

/* The handler in `action`, a struct sigaction in kernel layout, or the start of it. */
uint64_t sigtrap_handler(const struct space *space, const uint8_t *action);

/*
 * Finds out the SIGTRAP disposition of the process of `thread` (at a safe stop) and replaces it by
 * the tracer's handler. Must be called when a program is first seen, before the first breakpoint
 * is planted. Returns 0, or -errno if there can be no handler: then breakpoints end the process
 * after the tracer's death.
 */
int sigtrap_begin(struct thread *thread);

/*
 * Restores the disposition of the process of `thread` (at a safe stop). Returns 0, or -errno: the
 * tracer's handler is still in use.
 */
int sigtrap_end(struct thread *thread);

/*
 * `thread` is stopped at a breakpoint of the tracer that it hit at the time `now`: restores its
 * mask. Notes if a SIGTRAP of the program's, blocked and pending, has taken the place of the
 * breakpoint's. That signal must be delivered when the thread is resumed (sigtrap_to_deliver()):
 * it is blocked again, so the kernel queues it as it was.
 */
void sigtrap_hit(struct thread *thread, uint64_t now);

/*
 * Returns true if `thread`, stopped by a SIGTRAP behind a breakpoint, has hit the breakpoint: the
 * SIGTRAP is the kernel's for an int3, or one of the program's own in its place.
 */
bool sigtrap_is_hit(struct thread *thread);

/* The signal that the thread has to be resumed with after sigtrap_hit(): SIGTRAP, or 0 for none. */
int sigtrap_to_deliver(const struct thread *thread);

/* Like sigtrap_hit(), after a single-step that the thread has made for the tracer with `mask`. */
void sigtrap_stepped(struct thread *thread, uint64_t mask);

/*
 * Sets the disposition again that the kernel has reset at a breakpoint. Must be called early if
 * the thread has blocked the signal, and always as the last action before the thread is resumed.
 */
void sigtrap_repair(struct thread *thread);

/*
 * sigtrap_inherit() copies the state of a parent to a new child. sigtrap_born() must be called at
 * the child's first stop, before anything is planted for it: gives the child what the parent has
 * got since the kernel began to make the child.
 */
void sigtrap_inherit(struct process *child, const struct process *parent);
void sigtrap_born(struct thread *thread);

/* Returns true if the program has a handler for SIGTRAP. */
bool sigtrap_is_handled(const struct process *process);

/* Takes over what a killed tracer knew of the disposition of SIGTRAP and the handlers' masks. */
void sigtrap_adopt(struct process *process, const struct journal_subject *subject);

/*
 * `thread` is about to call sigaction(). Returns true if the call is for SIGTRAP: then
 * sigtrap_called() must be called with its result.
 */
bool sigtrap_will_call(struct thread *thread, const struct regs *regs);
void sigtrap_called(struct thread *thread, uint64_t result);

/*
 * Returns true if the sigaction() call that `thread` is about to make was answered: it must return
 * 0 without being made. That is so if a CLONE_VM child reads the disposition of SIGTRAP or sets it
 * to the default, as Python's subprocess does and as exec does in any case: while the tracer's
 * breakpoints are in its memory, the child needs the handler in case the tracer is killed.
 */
bool sigtrap_answered(const struct thread *thread, const struct regs *regs);

#endif
