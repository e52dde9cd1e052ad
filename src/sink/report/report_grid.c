/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns that the report divides the time of a trace into.
 *
 * How long a trace will be is not known while it is made, and counts by time have to stay few. So
 * columns are short at first. When a time does not fit any more, each becomes twice as long, and
 * two become one, as often as is needed: there are between half of REPORT_COLUMNS and all of them.
 * A column begins at a multiple of its length since the Epoch, so that two columns that become one
 * are always whole ones.
 *
 * A call is known when it ends, and counts where it began: times come in no order, and the first
 * column may move to earlier ones.
 */
#include "sink/report/report_grid.h"

#include <string.h>

enum { SHIFT_FIRST = 10, SHIFT_MAX = 63 };

bool report_grid_cover(struct report_grid *grid, uint64_t time, struct report_move *move)
{
	const unsigned shift = grid->has_begun ? grid->shift : SHIFT_FIRST;
	const uint64_t column = time >> shift;
	uint64_t first = column, last = column;
	unsigned more = 0;

	if (grid->has_begun) {
		first = column < grid->first ? column : grid->first;
		last = column > grid->last ? column : grid->last;
	}
	while (last - first >= REPORT_COLUMNS && shift + more < SHIFT_MAX) {
		first >>= 1;
		last >>= 1;
		more++;
	}
	*move = (struct report_move){grid->first, first, more};
	const bool has_moved = grid->has_begun && (more || first != grid->first);

	*grid = (struct report_grid){first, last, shift + more, true};
	return has_moved;
}

unsigned report_grid_column(const struct report_grid *grid, uint64_t time)
{
	const uint64_t column = (time >> grid->shift) - grid->first;

	return column < REPORT_COLUMNS ? (unsigned)column : REPORT_COLUMNS - 1;
}

unsigned report_move_column(const struct report_move *move, unsigned column)
{
	const uint64_t moved = ((move->old_first + column) >> move->shift) - move->new_first;

	return moved < REPORT_COLUMNS ? (unsigned)moved : REPORT_COLUMNS - 1;
}

void report_move_counts(const struct report_move *move, uint32_t *counts)
{
	uint32_t moved[REPORT_COLUMNS] = {0};

	for (unsigned i = 0; i < REPORT_COLUMNS; i++) {
		uint32_t *sum = &moved[counts[i] ? report_move_column(move, i) : 0];

		*sum = counts[i] < UINT32_MAX - *sum ? *sum + counts[i] : UINT32_MAX;
	}
	memcpy(counts, moved, sizeof moved);
}
