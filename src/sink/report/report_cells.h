/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that the report keeps of each cell of its heat map: see report_cells.c. */
#ifndef TRACER_SINK_REPORT_REPORT_CELLS_H
#define TRACER_SINK_REPORT_REPORT_CELLS_H

#include "sink/report/report_grid.h"
#include "sink/report/report_slowest.h"

enum { REPORT_CELL_CALLS = 4 };

/* By level and column. Zeros are empty cells. */
struct report_cells {
	struct report_slowest *levels[REPORT_LEVELS]; /* each NULL or REPORT_COLUMNS lists */
};

/* Returns the list of a cell. */
struct report_slowest *report_cells_at(struct report_cells *cells, unsigned column,
				       uint64_t duration);
/* Moves the cells, as columns have moved. Where two become one, the slowest of both are kept. */
void report_cells_move(struct report_cells *cells, const struct report_move *move);
void report_cells_deinit(struct report_cells *cells);

#endif
