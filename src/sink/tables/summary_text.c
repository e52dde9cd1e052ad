/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of -c as text. Cells are written one after the other into the output buffer; a line never
 * ends with blanks.
 */
#include "sink/tables/summary_text.h"

#include "sink/render/escape.h"
#include "sink/render/render.h"
#include "sink/tables/summary_histogram.h"
#include "sink/tables/time_line.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* TIME_WIDTH: of seconds and microseconds since the Epoch, the longest form of a time. */
enum {
	NS_PER_US = 1000,
	NS_PER_S = 1000000000,
	NAME_WIDTH = 20,
	NAME_WIDTH_MAX = 100,
	TIME_WIDTH = 17
};

/* The heading and width of each column. Numbers are right-aligned, the name is left-aligned. */
static const struct layout {
	const char *heading;
	unsigned width;
} layouts[] = {
	[COLUMN_SHARE] = {"% time", 6},
	[COLUMN_TOTAL] = {"seconds", 11},
	[COLUMN_AVERAGE] = {"usecs/call", 11},
	[COLUMN_CALLS] = {"calls", 9},
	[COLUMN_SHORTEST] = {"usecs min", 11},
	[COLUMN_LONGEST] = {"usecs max", 11},
	[COLUMN_SUM] = {"sum", 14},
	[COLUMN_NAME] = {"     function", NAME_WIDTH},
	[COLUMN_P50] = {"usecs p50", 11},
	[COLUMN_P90] = {"usecs p90", 11},
	[COLUMN_P95] = {"usecs p95", 11},
	[COLUMN_P99] = {"usecs p99", 11},
	[COLUMN_P999] = {"usecs p99.9", 11},
	[COLUMN_HISTOGRAM] = {HISTOGRAM_CELL_HEADING, HISTOGRAM_CELL_WIDTH},
	[COLUMN_FIRST] = {"first call", TIME_WIDTH},
	[COLUMN_LAST] = {"last call", TIME_WIDTH},
};

/* A line that is being written. */
struct line {
	struct outbuf *out;
	size_t begin;	 /* column of `out` where the cell begins */
	size_t blank;	 /* spaces due in front of the next cell that is not empty */
	unsigned widest; /* width of the widest name */
	bool utf8;	 /* names may have characters beyond ASCII */
	bool epoch;	 /* -ttt: times are seconds since the Epoch, not times of day */
};

/* ------------------------------------------------------------------ cells */

static unsigned width_of(const struct line *line, unsigned column)
{
	return column == COLUMN_NAME ? line->widest : layouts[column].width;
}

/* Writes the spaces due. They wait for a cell with text, so that no line ends with blanks. */
static void begin_cell(struct line *line)
{
	outbuf_spaces(line->out, line->blank);
	line->blank = 0;
	line->begin = outbuf_column(line->out);
}

static void end_cell(struct line *line, unsigned width)
{
	size_t used = outbuf_column(line->out) - line->begin;

	line->blank = 1 + (used < width ? width - used : 0);
}

static void put_text(struct line *line, const char *text, unsigned width, bool to_the_right)
{
	size_t length = strlen(text);

	begin_cell(line);
	if (to_the_right && length < width)
		outbuf_spaces(line->out, width - length);
	outbuf_text(line->out, text);
	end_cell(line, width);
}

/* Writes `value`, which is in units of 10^-digits. */
static void put_number(struct line *line, uint64_t value, unsigned digits, unsigned width)
{
	uint64_t unit = 1;

	for (unsigned i = 0; i < digits; i++)
		unit *= 10;
	begin_cell(line);
	outbuf_unsigned(line->out, value / unit, digits ? width - digits - 1 : width, ' ');
	if (digits) {
		outbuf_char(line->out, '.');
		outbuf_unsigned(line->out, value % unit, digits, '0');
	}
	end_cell(line, width);
}

static void put_shown_name(struct line *line, const char *name)
{
	begin_cell(line);
	escape_source_name(line->out, name, line->utf8);
	end_cell(line, line->widest);
}

static void put_sum(struct line *line, const struct tally *tally)
{
	char text[32];

	if (tally->sums_durations)
		snprintf(text, sizeof text, "%.6f", tally->sum / NS_PER_S);
	else if (tally->sum < 0x1p53 && tally->sum > -0x1p53 &&
		 tally->sum == (double)(int64_t)tally->sum)
		snprintf(text, sizeof text, "%lld", (long long)tally->sum);
	else
		snprintf(text, sizeof text, "%.9g", tally->sum);
	put_text(line, text, layouts[COLUMN_SUM].width, true);
}

static void put_time(struct line *line, uint64_t time)
{
	const time_t second = (time_t)(time / NS_PER_S);
	char text[64] = "";
	struct tm parts;

	if (line->epoch)
		snprintf(text, sizeof text, "%llu.%06llu", (unsigned long long)second,
			 (unsigned long long)(time % NS_PER_S / NS_PER_US));
	else if (localtime_r(&second, &parts))
		snprintf(text, sizeof text, "%02d:%02d:%02d.%06llu", parts.tm_hour, parts.tm_min,
			 parts.tm_sec, (unsigned long long)(time % NS_PER_S / NS_PER_US));
	put_text(line, text, TIME_WIDTH, true);
}

static void put_histogram(struct line *line, const struct histogram *times)
{
	begin_cell(line);
	histogram_put_cell(line->out, times, line->utf8);
	end_cell(line, layouts[COLUMN_HISTOGRAM].width);
}

static void put_cell(struct line *line, unsigned column, const struct summary_row *row,
		     const struct tally *total)
{
	const struct summary_cell cell = summary_cell_get(row, column, total);
	const unsigned width = layouts[column].width;

	if (!cell.is_known) /* no call has returned */
		put_text(line, "-", width, true);
	else if (column == COLUMN_SHARE)
		put_number(line, cell.number, 2, width);
	else if (column == COLUMN_TOTAL)
		put_number(line, cell.number / NS_PER_US, 6, width);
	else if (column == COLUMN_CALLS)
		put_number(line, cell.number, 0, width);
	else if (column == COLUMN_SUM)
		put_sum(line, &row->tally);
	else if (column == COLUMN_NAME)
		put_shown_name(line, row->name);
	else if (column == COLUMN_FIRST || column == COLUMN_LAST)
		put_time(line, cell.number);
	else if (column == COLUMN_HISTOGRAM)
		put_histogram(line, row->tally.times);
	else if (summary_column_quantile(column))
		put_number(line, cell.number, 3, width);
	else
		put_number(line, cell.number / NS_PER_US, 0, width);
}

/* Writes a cell of the last line; columns that cannot be summed up stay empty. */
static void put_total(struct line *line, unsigned column, const struct tally *total)
{
	if (column == COLUMN_SHARE)
		put_number(line, 10000, 2, layouts[column].width);
	else if (column == COLUMN_TOTAL)
		put_number(line, total->time / NS_PER_US, 6, layouts[column].width);
	else if (column == COLUMN_CALLS)
		put_number(line, total->calls, 0, layouts[column].width);
	else if (column == COLUMN_SUM)
		put_sum(line, total);
	else if (column == COLUMN_NAME)
		put_text(line, "total", line->widest, false);
	else
		line->blank += layouts[column].width + 1;
}

/* ------------------------------------------------------------------ lines */

static void put_rule(struct line *line, unsigned width)
{
	begin_cell(line);
	for (unsigned i = 0; i < width; i++)
		outbuf_char(line->out, '-');
	end_cell(line, width);
}

static void end_line(struct line *line)
{
	outbuf_newline(line->out);
	line->blank = 0;
}

static void put_heading(struct line *line, unsigned column, const struct output_options *options)
{
	if (column == COLUMN_NAME && options->keys_text)
		put_shown_name(line, options->keys_text);
	else
		put_text(line, layouts[column].heading, width_of(line, column),
			 column != COLUMN_NAME);
}

static void put_rules(struct line *line, const uint8_t *columns, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_rule(line, width_of(line, columns[i]));
	end_line(line);
}

static unsigned widest_name(const struct vec *rows)
{
	size_t widest = NAME_WIDTH;

	for (size_t i = 0; i < rows->count; i++) {
		size_t length = strlen(((const struct summary_row *)vec_at(rows, i))->name);

		if (length > widest)
			widest = length < NAME_WIDTH_MAX ? length : NAME_WIDTH_MAX;
	}
	return (unsigned)widest;
}

static void put_lines(struct outbuf *out, const struct summary_table *table)
{
	const struct output_options *options = table->options;
	const struct summary_columns columns = summary_columns_shown(options);
	struct line line = {.out = out,
			    .widest = NAME_WIDTH,
			    .utf8 = options->utf8,
			    .epoch = options->time_stamp >= 3};

	/* The last column needs no padding. */
	if (columns.column[columns.count - 1] != COLUMN_NAME)
		line.widest = widest_name(&table->rows);
	for (unsigned i = 0; i < columns.count; i++)
		put_heading(&line, columns.column[i], options);
	end_line(&line);
	put_rules(&line, columns.column, columns.count);
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct summary_row *row = vec_at(&table->rows, i);

		for (unsigned k = 0; k < columns.count; k++)
			put_cell(&line, columns.column[k], row, &table->total);
		end_line(&line);
		if (options->histogram && row->tally.times)
			histogram_put_lines(out, row->tally.times);
	}
	put_rules(&line, columns.column, columns.count);
	for (unsigned i = 0; i < columns.count; i++)
		put_total(&line, columns.column[i], &table->total);
	end_line(&line);
}

/* Nothing is multiplied: the rows have what was counted. */
static void put_sample(struct outbuf *out, const struct output_options *options)
{
	if (options->sample <= 1)
		return;
	outbuf_text(out, "1 of ");
	outbuf_unsigned(out, options->sample, 0, ' ');
	outbuf_text(out, " calls is counted (--sample)");
	outbuf_newline(out);
}

static void put_table(struct outbuf *out, const struct summary_table *table)
{
	if (table->has_time)
		time_line_put(out, table->time, table->elapsed);
	if (table->has_pid && table->pid) {
		outbuf_text(out, "process ");
		outbuf_signed(out, table->pid);
		outbuf_newline(out);
	}
	put_lines(out, table);
	put_sample(out, table->options);
	if (table->has_pid && table->pid)
		outbuf_newline(out);
}

/* The tracer itself reports this on stderr: there it is not said twice. */
static void put_untraced(struct outbuf *out, const struct record *record,
			 const struct output_options *options)
{
	if (!options->to_file)
		return;
	render_untraced(out, record);
	outbuf_newline(out);
}

static void put_engines(struct outbuf *out, uint64_t planted, uint64_t inside, uint64_t lost)
{
	outbuf_unsigned(out, planted, 0, ' ');
	outbuf_text(out, " probes: ");
	outbuf_unsigned(out, inside, 0, ' ');
	outbuf_text(out, " in-process, ");
	outbuf_unsigned(out, planted - inside, 0, ' ');
	outbuf_text(out, " by trap; lost ");
	outbuf_unsigned(out, lost, 0, ' ');
	outbuf_newline(out);
}

const struct table_form *summary_text_form(void)
{
	static const struct table_form form = {
		.put_table = put_table, .put_untraced = put_untraced, .put_engines = put_engines};

	return &form;
}
