/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many small reads and writes of a space's memory at once, by whole pages. See gather.c.
 */
#ifndef TRACER_INFERIOR_GATHER_H
#define TRACER_INFERIOR_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_range;
struct space;

/*
 * From here to gather_end(), what is read from the space's memory is read once a page, and what is
 * written there (space_write()) is kept and read back from here. All threads of the space are
 * stopped, and none is resumed until then but by remote_syscall(), in front of which all is
 * written. Not to be nested: where it has begun already, this does nothing and returns false, and
 * there must be no gather_end().
 */
bool gather_begin(struct space *space);
/*
 * Writes everything: first what lies in memory of ours (slots, stubs, the rescue handler's table),
 * then what lies in the program's, as that leads there.
 */
void gather_end(struct space *space);

/*
 * Reads many ranges, as a memory_source's readv(), but each page once: of use where many are on the
 * same pages. Threads may run.
 */
void gather_read(struct space *space, struct memory_range *ranges, size_t count);

/* Writes everything, and does without for a while: for who lets a thread run. */
void gather_pause(struct space *space);
void gather_go_on(struct space *space);

/* What space_write() does meanwhile, and whether it is to: 0 or -errno. */
bool gather_is_on(const struct space *space);
int gather_write(struct space *space, uint64_t address, const void *bytes, size_t length);

#endif
