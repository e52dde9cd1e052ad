/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls that the report keeps of each cell of its heat map. A cell is a column of time and a
 * level of durations. It has the slowest of its calls, and there are as many cells as there are,
 * however long the trace is.
 */
#include "sink/report/report_cells.h"

#include "base/histogram.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct report_slowest *report_cells_at(struct report_cells *cells, unsigned column,
				       uint64_t duration)
{
	struct report_slowest **level =
		&cells->levels[histogram_bucket(duration, REPORT_LEVEL_BITS)];

	if (!*level)
		*level = xcalloc(REPORT_COLUMNS, sizeof **level);
	return &(*level)[column];
}

void report_cells_move(struct report_cells *cells, const struct report_move *move)
{
	for (unsigned i = 0; i < REPORT_LEVELS; i++) {
		struct report_slowest *old = cells->levels[i];

		if (!old)
			continue;
		cells->levels[i] = xcalloc(REPORT_COLUMNS, sizeof *old);
		for (unsigned k = 0; k < REPORT_COLUMNS; k++)
			if (old[k].count)
				report_slowest_merge(&cells->levels[i][report_move_column(move, k)],
						     REPORT_CELL_CALLS, &old[k]);
		free(old);
	}
}

void report_cells_deinit(struct report_cells *cells)
{
	for (unsigned i = 0; i < REPORT_LEVELS; i++) {
		for (unsigned k = 0; cells->levels[i] && k < REPORT_COLUMNS; k++)
			report_slowest_deinit(&cells->levels[i][k]);
		free(cells->levels[i]);
		cells->levels[i] = NULL;
	}
}
