/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A word shared with the agent's code in the process. It is not 0 while calls are pending there
 * whose return only a breakpoint will report, and may stay set for longer.
 */
#ifndef TRACER_ENGINE_TRAP_PENDING_H
#define TRACER_ENGINE_TRAP_PENDING_H

#include "tracee/tracee.h"

/*
 * Registers *word for `space`, until the space's trap_space is freed or pending_forget_words(). It
 * is set to 1 at first: calls may be pending.
 */
void pending_add_word(struct space *space, uint32_t *word);
void pending_forget_words(struct space *space);

/*
 * A call has become pending whose return only a breakpoint will report. Must be called before its
 * thread is resumed.
 */
void pending_note(const struct space *space);

/* Sets the words to 0 if no thread of the space has such a call any more. */
void pending_settle(struct tracees *tracees, struct space *space);

#endif
