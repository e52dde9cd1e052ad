/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a table of the report: see report_rows.c. */
#ifndef TRACER_SINK_REPORT_REPORT_ROWS_H
#define TRACER_SINK_REPORT_REPORT_ROWS_H

#include "proto/names.h"
#include "sink/report/report_grid.h"
#include "sink/report/report_slowest.h"
#include "sink/tables/tally.h"

/* What is known of all calls that have one name. */
struct report_row {
	uint32_t index; /* in its table */
	struct tally tally;
	uint32_t columns[REPORT_COLUMNS]; /* calls over time */
	/* For each level of durations that calls had, the calls over time; owned. */
	uint32_t *heat[REPORT_LEVELS];
	struct report_slowest slowest;
	size_t length;
	char name[];
};

/* A table. Zeros are an empty one. */
struct report_rows {
	struct names names;	   /* struct report_row, by index */
	struct report_row *others; /* in `names`: for what has no row; NULL: there is room */
};

/* Returns the row of that name, or of all others if there are too many. */
struct report_row *report_rows_get(struct report_rows *rows, const char *name, size_t length);
struct report_row *report_rows_at(const struct report_rows *rows, size_t index);
/* Moves the counts of all rows. */
void report_rows_move(struct report_rows *rows, const struct report_move *move);
void report_rows_deinit(struct report_rows *rows);

/* Counts a call that has returned after so many ns. */
void report_row_heat(struct report_row *row, unsigned column, uint64_t duration);

/*
 * Adds the counts of a row over time and durations to those in `sums`, which is as struct
 * report_row has them; what it allocates is the caller's.
 */
void report_row_add_heat(uint32_t **sums, const struct report_row *row);

#endif
