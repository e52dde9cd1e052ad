/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a space, kept for the moment in which a process is begun with, or left.
 *
 * To read them of a program with many libraries takes half a millisecond and more, and a dozen
 * places want to know them while threads stand. They are read once then, and what the tracer maps
 * and unmaps there itself is noted. At an attach the other threads are not stopped, and may map and
 * unmap: what is kept is some milliseconds old. So it is good for what is looked for in memory of
 * the program's own or asked of the kernel anyway (a place that is free: MAP_FIXED_NOREPLACE). Who
 * takes a mapping for that of a library compares its memory with the file, and who does not find
 * what has to be there calls kept_maps_outdated() and asks again.
 */
#ifndef TRACER_INFERIOR_KEPT_MAPS_H
#define TRACER_INFERIOR_KEPT_MAPS_H

#include "inferior/maps.h"

struct space;

/* Takes over `maps`, read of a task of the space, and leaves an empty one. */
void kept_maps_begin(struct space *space, struct maps *maps);
/* From here on they are read anew. Nothing that kept_maps_read() gave may be used any more. */
void kept_maps_end(struct space *space);
/*
 * The mappings of the space, read of its task `tid` if none are kept: 0 or -errno.
 * maps_deinit() frees them, before kept_maps_end(); what is mapped meanwhile does not appear.
 */
int kept_maps_read(const struct space *space, pid_t tid, struct maps *maps);
/* Notes what the tracer has mapped there: anonymous memory of that protection (mmap(2)). */
void kept_maps_add(struct space *space, uint64_t start, uint64_t length, int protection);
/* Notes what the tracer has unmapped there: whole mappings, else they are read anew. */
void kept_maps_remove(struct space *space, uint64_t start, uint64_t length);
/*
 * From here on they are read anew; what kept_maps_read() has given stays good as it is. Whether any
 * were kept, so that it may help to ask again.
 */
bool kept_maps_outdated(struct space *space);

#endif
