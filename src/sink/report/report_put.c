/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the page of --report: its head, the data as JSON, and its scripts.
 *
 * Data is in columns, one array for each member of all calls or rows: an array of numbers is half
 * the size of as many objects, and a browser reads it in a fraction of the time. Times are in ns
 * since "base", so that they are exact in the doubles of a browser; those of a trace of less than
 * 104 days are.
 */
#include "sink/report/report_put.h"

#include "sink/report/report_json.h"
#include "sink/report/report_page.h"
#include "sink/report/report_put_calls.h"
#include "sink/report/report_put_time.h"

#include <stdlib.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(not a release)"
#endif

/* Of how many rows of a table there are heat maps: those with the greatest sum of times. */
enum { HEAT_ROWS = 40, P50 = 500, P99 = 990, ALL_CALLS = -1 };

static const char *const table_names[REPORT_TABLES] = {
	[REPORT_FUNCTIONS] = "function",
	[REPORT_STATEMENTS] = "statement",
	[REPORT_LINES] = "line",
	[REPORT_KEYS] = "key",
};

static unsigned used_columns(const struct report_sink *report)
{
	return report->grid.has_begun ? (unsigned)(report->grid.last - report->grid.first) + 1 : 0;
}

/* ------------------------------------------------------------------ tables */

static int64_t get_calls(const void *item, const void *context)
{
	(void)context;
	return report_json_clamp((*(struct report_row *const *)item)->tally.calls);
}

static int64_t get_timed(const void *item, const void *context)
{
	(void)context;
	return report_json_clamp((*(struct report_row *const *)item)->tally.timed);
}

static int64_t get_total(const void *item, const void *context)
{
	(void)context;
	return report_json_clamp((*(struct report_row *const *)item)->tally.time);
}

static int64_t get_longest(const void *item, const void *context)
{
	(void)context;
	return report_json_clamp((*(struct report_row *const *)item)->tally.longest);
}

static int64_t get_quantile(const void *item, const void *context)
{
	return report_json_clamp(tally_quantile(&(*(struct report_row *const *)item)->tally,
						*(const unsigned *)context));
}

/* The calls over time of each row, as an array without the zeros at its end. */
static void put_over_time(struct outbuf *out, const struct report_sink *report,
			  const struct vec *rows)
{
	report_json_open(out, "overTime", '[');
	for (size_t i = 0; i < rows->count; i++) {
		const struct report_row *row = *(struct report_row **)vec_at(rows, i);
		unsigned end = used_columns(report);

		while (end && !row->columns[end - 1])
			end--;
		report_json_open(out, NULL, '[');
		for (unsigned k = 0; k < end; k++)
			report_json_push(out, row->columns[k]);
		report_json_close(out, ']');
		report_json_flush(out);
	}
	report_json_close(out, ']');
}

static void put_table(struct outbuf *out, const struct report_sink *report, unsigned table)
{
	const struct names *names = &report->tables[table].names;
	struct vec rows = VEC_OF(struct report_row *);

	report_json_open(out, NULL, '{');
	report_json_member(out, "name", table_names[table]);
	if (table == REPORT_KEYS)
		report_json_member(out, "keys", report->target.options->keys_text);
	report_json_open(out, "names", '[');
	for (size_t i = 0; i < names->count; i++) {
		struct report_row *row = report_rows_at(&report->tables[table], i);

		if (i)
			outbuf_char(out, ',');
		report_json_text(out, row->name, row->length);
		vec_push(&rows, &row);
		report_json_flush(out);
	}
	report_json_close(out, ']');
	if (report->tables[table].others)
		report_json_number(out, "others", report->tables[table].others->index);
	report_json_column(out, "calls", &rows, get_calls, NULL);
	report_json_column(out, "timed", &rows, get_timed, NULL);
	report_json_column(out, "total", &rows, get_total, NULL);
	report_json_column(out, "p50", &rows, get_quantile, &(const unsigned){P50});
	report_json_column(out, "p99", &rows, get_quantile, &(const unsigned){P99});
	report_json_column(out, "max", &rows, get_longest, NULL);
	put_over_time(out, report, &rows);
	report_json_close(out, '}');
	vec_deinit(&rows);
}

/* ------------------------------------------------------------------ heat maps */

/* Writes the cells that have calls: column, level, calls. */
static void put_cells(struct outbuf *out, uint32_t *const *heat)
{
	report_json_open(out, "cells", '[');
	for (unsigned level = 0; level < REPORT_LEVELS; level++)
		for (unsigned column = 0; heat[level] && column < REPORT_COLUMNS; column++)
			if (heat[level][column]) {
				report_json_push(out, column);
				report_json_push(out, level);
				report_json_push(out, heat[level][column]);
			}
	report_json_close(out, ']');
}

static void put_heat(struct outbuf *out, int table, uint32_t row, uint32_t *const *heat)
{
	report_json_open(out, NULL, '{');
	outbuf_text(out, "\"table\":");
	outbuf_signed(out, table);
	report_json_number(out, "row", row);
	put_cells(out, heat);
	report_json_close(out, '}');
	outbuf_newline(out);
	report_json_flush(out);
}

/* The heat map of all calls is the sum of those of functions. */
static void put_whole_heat(struct outbuf *out, const struct report_sink *report)
{
	const struct report_rows *functions = &report->tables[REPORT_FUNCTIONS];
	uint32_t *sums[REPORT_LEVELS] = {0};

	for (size_t i = 0; i < functions->names.count; i++)
		report_row_add_heat(sums, report_rows_at(functions, i));
	put_heat(out, ALL_CALLS, 0, sums);
	for (unsigned level = 0; level < REPORT_LEVELS; level++)
		free(sums[level]);
}

static int compare_times(const void *left, const void *right)
{
	const struct report_row *const *one = left, *const *other = right;

	return (*one)->tally.time > (*other)->tally.time   ? -1
	       : (*one)->tally.time < (*other)->tally.time ? 1
	       : (*one)->index < (*other)->index	   ? -1
							   : 1;
}

static void put_heats(struct outbuf *out, const struct report_sink *report)
{
	report_json_open(out, "heat", '[');
	put_whole_heat(out, report);
	for (unsigned table = 0; table < REPORT_TABLES; table++) {
		struct vec rows = VEC_OF(struct report_row *);

		for (size_t i = 0; i < report->tables[table].names.count; i++) {
			struct report_row *row = report_rows_at(&report->tables[table], i);

			if (row->tally.timed)
				vec_push(&rows, &row);
		}
		if (rows.count)
			qsort(rows.items, rows.count, rows.item_size, compare_times);
		for (size_t i = 0; i < rows.count && i < HEAT_ROWS; i++) {
			struct report_row *row = *(struct report_row **)vec_at(&rows, i);

			put_heat(out, (int)table, row->index, row->heat);
		}
		vec_deinit(&rows);
	}
	report_json_close(out, ']');
}

/* ------------------------------------------------------------------ the page */

static void put_summary(struct outbuf *out, const struct report_sink *report)
{
	const struct output_options *options = report->target.options;

	report_json_member(out, "tracer", PACKAGE_VERSION);
	report_json_member(out, "traced", options->traced);
	report_json_member(out, "host", options->host);
	outbuf_text(out, ",\"base\":\"");
	outbuf_unsigned(out, report->first, 1, ' ');
	outbuf_char(out, '"');
	report_json_number(out, "length", report->last - report->first);
	report_json_number(out, "calls", report->calls);
	report_json_number(out, "time", report->time);
	report_json_number(out, "unfinished", report->unfinished_calls);
	report_json_number(out, "unfinishedLeftOut", report->unfinished_left_out);
	report_json_number(out, "unwound", report->unwound_calls);
	report_json_number(out, "processes", report->threads.pids.count);
	report_json_number(out, "threadCount", report->threads.by_id.count);
	report_json_number(out, "lost", report->lost);
	if (report->target.options->sample > 1)
		report_json_number(out, "sample", report->target.options->sample);
	report_json_number(out, "slowest", REPORT_SLOWEST);
	outbuf_newline(out);
}

static void put_grid(struct outbuf *out, const struct report_sink *report)
{
	const struct report_grid *grid = &report->grid;

	report_json_open(out, "grid", '{');
	outbuf_text(out, "\"origin\":");
	outbuf_signed(out, (int64_t)((grid->first << grid->shift) - report->first));
	report_json_number(out, "width", UINT64_C(1) << grid->shift);
	report_json_number(out, "columns", used_columns(report));
	report_json_close(out, '}');
	outbuf_newline(out);
}

int report_put(struct report_sink *report)
{
	struct outbuf out;

	outbuf_init(&out, report->target.fd);
	out.patience = &report->target.options->patience;
	report_page_put_head(&out);
	outbuf_char(&out, '{');
	put_summary(&out, report);
	put_grid(&out, report);
	report_json_open(&out, "tables", '[');
	for (unsigned table = 0; table < REPORT_TABLES; table++)
		put_table(&out, report, table);
	report_json_close(&out, ']');
	put_heats(&out, report);
	report_put_calls(&out, report);
	report_put_flame(&out, report);
	report_put_threads(&out, report);
	report_put_events(&out, report);
	report_json_close(&out, '}');
	report_page_put_tail(&out);
	const int error = outbuf_flush(&out);

	outbuf_deinit(&out);
	return error;
}
