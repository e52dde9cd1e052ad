/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Undoes the patches that a journal lists: writes the bytes back and removes the entries. */
#ifndef TRACER_TRACEE_JOURNAL_UNDO_H
#define TRACER_TRACEE_JOURNAL_UNDO_H

#include "tracee/journal.h"

struct space;

/*
 * Undoes one patch and removes its entry. If the bytes are not the tracer's any more (the memory
 * was unmapped or replaced, or the program wrote to it), they are left as they are.
 */
void journal_undo_bytes(struct journal *journal, struct space *space, size_t number);

/*
 * Undoes all jumps; without `staying_too`, those with JOURNAL_STAYS are kept. All threads of the
 * space must be stopped.
 */
void journal_undo_jumps(struct journal *journal, struct space *space, bool staying_too);

/*
 * Undoes all patches, the latest first. All threads of the space must be stopped. Mappings stay, as
 * unmapping takes a remote call.
 */
void journal_undo_all_bytes(struct journal *journal, struct space *space);

#endif
