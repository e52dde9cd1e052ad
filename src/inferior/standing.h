/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a space whose threads stand still.
 *
 * To read them of a program with many libraries takes half a millisecond and more, and at an attach
 * a dozen places want to know them while nobody but the tracer maps anything. They are read once
 * then, and what the tracer maps and unmaps there itself is noted. A process outside that shares
 * the memory may still map something: what is not found is to be looked for anew, by maps_read(),
 * and new mappings are made so that they take no one's place (MAP_FIXED_NOREPLACE).
 */
#ifndef TRACER_INFERIOR_STANDING_H
#define TRACER_INFERIOR_STANDING_H

#include "inferior/maps.h"

struct space;

/*
 * From here to standing_end() all threads of the space are stopped. Takes over `maps`, read since
 * then, and leaves an empty one.
 */
void standing_begin(struct space *space, struct maps *maps);
/* The threads may run again. Nothing that standing_read() gave may be used any more. */
void standing_end(struct space *space);
/*
 * The mappings of the space, read of its task `tid` if it does not stand: 0 or -errno.
 * maps_deinit() frees them, before standing_end(); what is mapped meanwhile does not appear.
 */
int standing_read(const struct space *space, pid_t tid, struct maps *maps);
/* Notes what the tracer has mapped there: anonymous memory of that protection (mmap(2)). */
void standing_mapped(struct space *space, uint64_t start, uint64_t length, int protection);
/* The tracer has unmapped something, which is rare: mappings are read anew from here on. */
void standing_unmapped(struct space *space);

#endif
