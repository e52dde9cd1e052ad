/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many small reads and writes of a space's memory at once, by whole pages. See memory_batch.c.
 */
#ifndef TRACER_TRACEE_MEMORY_BATCH_H
#define TRACER_TRACEE_MEMORY_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_range;
struct space;

/*
 * Begins a batch. Until memory_batch_end(), each page of the space's memory is read once, and
 * writes by space_write() change the copy of the page, from which they are also read back. All
 * threads of the space must be stopped, and none may be resumed but by remote_syscall(), before
 * which the batch is written. Batches do not nest: if one has begun already, this does nothing and
 * returns false, and the caller must not call memory_batch_end().
 */
bool memory_batch_begin(struct space *space);
/*
 * Writes everything: memory of the tracer's first (XOL slots, stubs, the rescue handler's tables),
 * then the program's, which leads there.
 */
void memory_batch_end(struct space *space);

/*
 * Reads many ranges, like the readv() of a memory_source, but each page once: for ranges that share
 * pages. Threads may run.
 */
void memory_batch_read(struct space *space, struct memory_range *ranges, size_t count);

/* Writes everything and suspends the batch, so that a thread can run; resumes the batch. */
void memory_batch_pause(struct space *space);
void memory_batch_go_on(struct space *space);

/* For space_write(): true while a batch is active, and the write to the batch: 0 or -errno. */
bool memory_batch_is_on(const struct space *space);
int memory_batch_write(struct space *space, uint64_t address, const void *bytes, size_t length);

#endif
