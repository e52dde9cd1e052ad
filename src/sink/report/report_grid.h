/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns that the report divides the time of a trace into: see report_grid.c.
 */
#ifndef TRACER_SINK_REPORT_REPORT_GRID_H
#define TRACER_SINK_REPORT_REPORT_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* COLUMNS: of time. LEVELS: of durations, two for each power of two (histogram_bucket()). */
enum { REPORT_COLUMNS = 160, REPORT_LEVELS = 128, REPORT_LEVEL_BITS = 1 };

/* Column i has the times from (first + i) << shift on, 1 << shift ns of them. Begin with zeros. */
struct report_grid {
	uint64_t first, last; /* of the columns that have calls, counted from the Epoch */
	unsigned shift;
	bool has_begun;
};

/* What became of the columns when the grid has changed. */
struct report_move {
	uint64_t old_first, new_first;
	unsigned shift; /* how often two columns became one */
};

/*
 * Makes the grid cover a time, in ns since the Epoch. Returns true if its columns have changed, and
 * stores how: whoever has counts by column has to move them.
 */
bool report_grid_cover(struct report_grid *grid, uint64_t time, struct report_move *move);

/* Returns the column of a time that the grid covers. */
unsigned report_grid_column(const struct report_grid *grid, uint64_t time);

/* Returns the column that an old one has become a part of. */
unsigned report_move_column(const struct report_move *move, unsigned column);

/* Moves the counts of REPORT_COLUMNS columns. */
void report_move_counts(const struct report_move *move, uint32_t *counts);

/* Counts one more; a count stays at its maximum. */
static inline void report_count(uint32_t *count)
{
	*count += *count != UINT32_MAX;
}

#endif
