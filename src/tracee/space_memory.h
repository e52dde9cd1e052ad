/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes the memory of a space directly, without its memory batch: see space_memory.c. */
#ifndef TRACER_TRACEE_SPACE_MEMORY_H
#define TRACER_TRACEE_SPACE_MEMORY_H

#include "tracee/tracee.h"

/* Sets the memory sources of a space that is just made. */
void space_memory_begin(struct space *space);
/*
 * Like space_write(), but never deferred by a memory batch (memory_batch.h). While a batch is
 * active, only the batch itself may call it.
 */
int space_write_through(struct space *space, uint64_t address, const void *bytes, size_t length);
/* Like space_write_words() (space.h), in the same way. */
void space_write_words_through(struct space *space, struct memory_range *ranges, size_t count);
/* Returns true if an access to the page at `address` would block, perhaps for ever. */
bool space_is_stuck(const struct space *space, uint64_t address);

#endif
