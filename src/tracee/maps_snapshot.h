/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of the mappings of a space, used while tracing of a process begins or ends.
 *
 * Reading the mappings of a program with many libraries takes half a millisecond or more, and a
 * dozen functions need them while threads are stopped. So they are read once, and the tracer's own
 * mmap and munmap calls are applied to the snapshot. At an attach the other threads run and may
 * change mappings, so the snapshot is some milliseconds old. That is good enough for finding the
 * program's own memory, and where the kernel checks the result anyway (a free place:
 * MAP_FIXED_NOREPLACE). A caller that identifies a library by its mapping compares memory with the
 * file. A caller that does not find what must be there calls maps_snapshot_outdated() and reads
 * again.
 */
#ifndef TRACER_TRACEE_MAPS_SNAPSHOT_H
#define TRACER_TRACEE_MAPS_SNAPSHOT_H

#include "tracee/maps.h"

struct space;

/* Starts a snapshot with `maps`, read from a task of the space. Leaves *maps empty. */
void maps_snapshot_begin(struct space *space, struct maps *maps);
/* Ends the snapshot. Invalidates everything that maps_snapshot_read() has returned. */
void maps_snapshot_end(struct space *space);
/*
 * Returns a copy of the snapshot, or reads the mappings of task `tid` if there is none: 0 or
 * -errno. Must be freed by maps_deinit(), before maps_snapshot_end(). Later changes do not show in
 * it.
 */
int maps_snapshot_read(const struct space *space, pid_t tid, struct maps *maps);
/* Adds anonymous memory that the tracer has mapped, with that protection (mmap(2)). */
void maps_snapshot_add(struct space *space, uint64_t start, uint64_t length, int protection);
/* Removes what the tracer has unmapped. If that is no whole mapping, the snapshot is dropped. */
void maps_snapshot_remove(struct space *space, uint64_t start, uint64_t length);
/*
 * Drops the snapshot; results of maps_snapshot_read() stay valid. Returns true if there was one, so
 * that reading again may give a new result.
 */
bool maps_snapshot_outdated(struct space *space);

#endif
