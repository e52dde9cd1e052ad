/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps SIGTRAP unblocked in threads that may hit breakpoints.
 *
 * If a thread hits a breakpoint with SIGTRAP blocked, the kernel resets the disposition of its
 * process (sigtrap.h). If the tracer is killed before it has repaired that, the process dies; and
 * worker threads with all signals blocked are common. So such a thread is given a mask without
 * SIGTRAP until it sets another one. The thread's own mask is in the journal.
 */
#ifndef TRACER_ENGINE_TRAP_SIGMASK_SHADOW_H
#define TRACER_ENGINE_TRAP_SIGMASK_SHADOW_H

#include "engine/trap/sigmask_history.h"
#include "tracee/tracee.h"

/*
 * Unblocks SIGTRAP in a stopped thread that blocks it and most other signals, unless a SIGTRAP is
 * pending or the thread runs the tracer's SIGTRAP handler.
 */
void sigmask_shadow_thread(struct thread *thread);

/*
 * Returns true if the thread has been given a mask without SIGTRAP, and has not been seen to set
 * another one.
 */
bool sigmask_shadow_is_given(const struct thread *thread);

/*
 * Returns true if `mask`, the present one of the stopped thread, is the one that the tracer has
 * given to the thread.
 */
bool sigmask_shadow_is_ours(const struct thread *thread, uint64_t mask);

/*
 * Returns true if `mask`, with which the thread has hit a breakpoint and which lacks SIGTRAP, was
 * given to it earlier: it has returned from a handler in which it was given another one. Then that
 * is noted again.
 */
bool sigmask_shadow_recall(struct thread *thread, uint64_t mask);

/* Gives a stopped thread its own mask back, if it has set none since. */
void sigmask_shadow_undo(struct thread *thread);

/*
 * Reads what sigmask_shadow_undo() needs from the journal of a space that another process has
 * changed.
 */
void sigmask_shadow_adopt(const struct tracees *tracees, struct space *space);

/* Notes that `child` starts with the mask of its creator. */
void sigmask_shadow_inherit(struct thread *child, const struct thread *parent);

/*
 * The thread is stopped at a call that may see a given mask or set one with SIGTRAP. Returns true
 * if the call is answered: the caller moves the thread behind the call, with a result of 0, and
 * then calls sigmask_shadow_changed(). Returns false if the thread may make the call, with its own
 * mask.
 */
bool sigmask_shadow_will_change(struct thread *thread, const struct mask_call *call);
void sigmask_shadow_changed(struct thread *thread);

#endif
