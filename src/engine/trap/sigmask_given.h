/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread has been given a mask by the tracer (sigmask_shadow.h): its own mask and the given
 * one, in the journal. A note stays until another one is made, also if the thread has set its mask
 * since.
 */
#ifndef TRACER_ENGINE_TRAP_SIGMASK_GIVEN_H
#define TRACER_ENGINE_TRAP_SIGMASK_GIVEN_H

#include "tracee/tracee.h"

/*
 * Reads what is noted of the thread: its own mask and the one that it was given. Returns false if
 * nothing is.
 */
bool sigmask_given_noted(const struct thread *thread, uint64_t *own, uint64_t *given);

/* Notes that the thread, whose space must have a journal, is about to be given a mask. */
void sigmask_given_note(struct thread *thread, uint64_t own, uint64_t given);

/* The thread is gone, or has its own mask: the note is removed from the journal. */
void sigmask_given_forget(struct thread *thread);

/* Stores the mask of a stopped thread; its own if it was given another one. Returns 0 or -errno. */
int sigmask_own(const struct thread *thread, uint64_t *mask);

#endif
