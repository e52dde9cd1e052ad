/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGTRAP is kept unblocked in the threads that breakpoints are planted for.
 *
 * A thread that runs into a breakpoint with SIGTRAP blocked makes the kernel reset the disposition
 * of its process (sigtrap.h). If the tracer is killed before that is put right, the process dies,
 * and worker threads with all signals blocked are common. So such a thread gets a mask without
 * SIGTRAP until it sets another one; what its own is, is in the journal.
 */
#ifndef TRACER_ENGINE_TRAP_UNBLOCK_H
#define TRACER_ENGINE_TRAP_UNBLOCK_H

#include "engine/trap/masks.h"
#include "inferior/inferior.h"

/*
 * Unblocks it in a stopped thread that blocks it and most others, unless a SIGTRAP waits for that
 * to happen.
 */
void unblock_thread(struct thread *thread);

/* The mask of a stopped thread, its own where it has been given another one: 0 or -errno. */
int unblock_get_mask(const struct thread *thread, uint64_t *mask);

/* Whether `mask`, which the stopped thread has, is the one that it was given by us. */
bool unblock_is_ours(const struct thread *thread, uint64_t mask);

/*
 * Whether `mask`, with which the thread has hit a breakpoint and did not block SIGTRAP, is one that
 * it was given earlier: it is back from a handler in which it got another one. Then that is noted
 * again.
 */
bool unblock_recall(struct thread *thread, uint64_t mask);

/* Gives a stopped thread its own mask back, if it has set none since. */
void unblock_undo(struct thread *thread);

/*
 * Learns from the journal of a space that another process has changed what unblock_undo() has to
 * know.
 */
void unblock_adopt(const struct inferior *inferior, struct space *space);

/* `child` starts with the mask of its creator. */
void unblock_inherit(struct thread *child, const struct thread *parent);

/* The thread is gone. */
void unblock_forget(struct thread *thread);

/*
 * The thread, stopped where it makes this call, may see that mask or set one with SIGTRAP in it.
 * True: what it asked for is done, as soon as it has been put behind the call, with a result of 0,
 * and unblock_changed() says so. False: it may make the call, and has its own mask.
 */
bool unblock_will_change(struct thread *thread, const struct mask_call *call);
void unblock_changed(struct thread *thread);

#endif
