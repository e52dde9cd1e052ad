/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls around those that a recording has, where a condition chooses among the calls: see
 * recording_around.c.
 */
#ifndef TRACER_SINK_RECORDING_RECORDING_AROUND_H
#define TRACER_SINK_RECORDING_RECORDING_AROUND_H

#include "base/map.h"
#include "record/record.h"

struct recording_around {
	struct map threads; /* tid → struct around_thread */
};

/* A call begins, which need not be among those that are recorded. */
void recording_around_begin(struct recording_around *around, const struct record *entry);
/*
 * Returns a call around that of `entry` which chunk number `chunk` does not have so far, as a
 * record of kind RECORD_AROUND, the outermost first, and notes that the chunk has it; NULL: there
 * is none. Valid until the next change.
 */
const struct record *recording_around_next(struct recording_around *around,
					   const struct record *entry, uint64_t chunk);
/* The thread is gone. */
void recording_around_forget(struct recording_around *around, int32_t tid);
void recording_around_deinit(struct recording_around *around);

#endif
