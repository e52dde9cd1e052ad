/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a table of the report.
 *
 * Names may come from the traced process, so there may be as many as calls. A table has ROWS_MAX
 * rows; calls with other names share one more. The counts of a row over time and durations take
 * memory for those levels of durations only that it has calls of.
 */
#include "sink/report/report_rows.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define OTHERS "(others)"

enum { ROWS_MAX = 2000 };

static struct report_row *make_row(struct report_rows *rows, const char *name, size_t length)
{
	struct report_row *row = xcalloc(1, sizeof *row + length + 1);

	row->index = (uint32_t)rows->names.count;
	row->length = length;
	memcpy(row->name, name, length);
	names_put(&rows->names, row->name, length, row);
	return row;
}

struct report_row *report_rows_at(const struct report_rows *rows, size_t index)
{
	return (struct report_row *)(uintptr_t)rows->names.entries[index].value;
}

struct report_row *report_rows_get(struct report_rows *rows, const char *name, size_t length)
{
	struct report_row *row = (struct report_row *)(uintptr_t)names_get(&rows->names, name,
									   length);

	if (row)
		return row;
	if (rows->names.count < ROWS_MAX)
		return make_row(rows, name, length);
	if (!rows->others)
		rows->others = make_row(rows, OTHERS, sizeof OTHERS - 1);
	return rows->others;
}

void report_row_heat(struct report_row *row, unsigned column, uint64_t duration)
{
	uint32_t **heat = &row->heat[histogram_bucket(duration, REPORT_LEVEL_BITS)];

	if (!*heat)
		*heat = xcalloc(REPORT_COLUMNS, sizeof **heat);
	report_count(&(*heat)[column]);
}

void report_row_add_heat(uint32_t **sums, const struct report_row *row)
{
	for (unsigned level = 0; level < REPORT_LEVELS; level++) {
		if (!row->heat[level])
			continue;
		if (!sums[level])
			sums[level] = xcalloc(REPORT_COLUMNS, sizeof **sums);
		for (unsigned i = 0; i < REPORT_COLUMNS; i++) {
			const uint32_t more = row->heat[level][i];
			const uint32_t sum = sums[level][i];

			sums[level][i] = more < UINT32_MAX - sum ? sum + more : UINT32_MAX;
		}
	}
}

void report_rows_move(struct report_rows *rows, const struct report_move *move)
{
	for (size_t i = 0; i < rows->names.count; i++) {
		struct report_row *row = report_rows_at(rows, i);

		report_move_counts(move, row->columns);
		for (unsigned level = 0; level < REPORT_LEVELS; level++)
			if (row->heat[level])
				report_move_counts(move, row->heat[level]);
	}
}

void report_rows_deinit(struct report_rows *rows)
{
	for (size_t i = 0; i < rows->names.count; i++) {
		struct report_row *row = report_rows_at(rows, i);

		tally_deinit(&row->tally);
		report_slowest_deinit(&row->slowest);
		for (unsigned level = 0; level < REPORT_LEVELS; level++)
			free(row->heat[level]);
		free(row);
	}
	names_deinit(&rows->names);
	rows->others = NULL;
}
