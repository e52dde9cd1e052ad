/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * New threads and children: whose memory they have, and which of them have the tracer's SIGTRAP
 * handler: see forks.c.
 */
#ifndef TRACER_TARGET_FORKS_H
#define TRACER_TARGET_FORKS_H

#include "target/target_state.h"

/* Makes the new task that an event stop (clone, fork, vfork) of its parent reports. */
void tasks_announced(struct target *target, const struct stop *stop);
/*
 * Like tasks_announced(), for an event stop of `thread` that is kept (thread_keep_stop()) and stays
 * so. Returns the new thread, or the first thread of the new process; NULL if no clone or vfork
 * stop is kept.
 */
struct thread *tasks_announce_kept(struct target *target, struct thread *thread);
/* Gives the owner's space to children that were found to share its memory at attach. */
void forks_share_space(struct target *target, struct process *owner);
/*
 * Stops the threads of a process that may be inside fork(2) or clone(2), except `thread`, which is
 * stopped already; they stay so until their stops are handled. Attaches to threads that appear
 * meanwhile. To be called before the process gets the tracer's SIGTRAP handler.
 */
void forks_pass(struct thread *thread);
/*
 * To be called at an attach, before anything in the process is changed. If the process may be an
 * orphan, as it has a unit (`has_units`) or a handler for SIGTRAP:
 *  - stops all its threads;
 *  - gives the children that they have forked no space, because their memory has the breakpoints
 *    and jumps that are about to be undone in the parent. Such a child stays as it is, or is read
 *    by itself if children are traced;
 *  - moves threads out of the killed tracer's remote-call stub, which would give them the mask of
 *    an earlier moment back, after this tracer has set another.
 */
void forks_stop_orphan(struct target *target, struct thread *thread, bool has_units);
/*
 * To be called after forks_pass() and sigtrap_begin(): gives the handler also to CLONE_VM children
 * of the process of `thread` that those stops, or later ones, have announced. Stops threads like
 * forks_pass().
 */
void forks_guard(struct target *target, struct thread *thread);

#endif
