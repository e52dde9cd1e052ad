/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of ours in a process asks whether calls are pending there whose return only a breakpoint
 * will tell of: a word that it shares with the tracer is not 0 then. It may stay so for longer.
 */
#ifndef TRACER_ENGINE_TRAP_PENDING_H
#define TRACER_ENGINE_TRAP_PENDING_H

#include "inferior/inferior.h"

/*
 * From now on *word is kept for `space`, until its trap_space is gone or pending_forget_words(). It
 * says that there are pending calls at first.
 */
void pending_add_word(struct space *space, uint32_t *word);
void pending_forget_words(struct space *space);

/* A call has become pending in that way. To be called before its thread goes on. */
void pending_note(const struct space *space);

/* Sets the words to 0 if no thread of the space has such a call any more. */
void pending_settle(struct inferior *inferior, struct space *space);

#endif
