/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lays out the table of -c. Cells are written one after the other into the output buffer; a line
 * never ends with blanks.
 */
#include "sink/summary_table.h"

#include "sink/escape.h"
#include "sink/summary_histogram.h"

#include <stdio.h>
#include <stdlib.h>
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
static const struct column {
	const char *heading;
	unsigned width;
	unsigned thousandths; /* the quantile that it shows; 0: something else */
} table[] = {
	[COLUMN_SHARE] = {"% time", 6, 0},
	[COLUMN_TOTAL] = {"seconds", 11, 0},
	[COLUMN_AVERAGE] = {"usecs/call", 11, 0},
	[COLUMN_CALLS] = {"calls", 9, 0},
	[COLUMN_SHORTEST] = {"usecs min", 11, 0},
	[COLUMN_LONGEST] = {"usecs max", 11, 0},
	[COLUMN_SUM] = {"sum", 14, 0},
	[COLUMN_NAME] = {"     function", NAME_WIDTH, 0},
	[COLUMN_P50] = {"usecs p50", 11, 500},
	[COLUMN_P90] = {"usecs p90", 11, 900},
	[COLUMN_P95] = {"usecs p95", 11, 950},
	[COLUMN_P99] = {"usecs p99", 11, 990},
	[COLUMN_P999] = {"usecs p99.9", 11, 999},
	[COLUMN_HISTOGRAM] = {HISTOGRAM_CELL_HEADING, HISTOGRAM_CELL_WIDTH, 0},
	[COLUMN_FIRST] = {"first call", TIME_WIDTH, 0},
	[COLUMN_LAST] = {"last call", TIME_WIDTH, 0},
};

static const uint8_t usual[] = {COLUMN_SHARE, COLUMN_TOTAL, COLUMN_AVERAGE, COLUMN_CALLS,
				COLUMN_NAME};
static const uint8_t usual_with_sum[] = {COLUMN_SHARE, COLUMN_TOTAL, COLUMN_AVERAGE,
					 COLUMN_CALLS, COLUMN_SUM,   COLUMN_NAME};

/* A line that is being written. */
struct line {
	struct outbuf *out;
	size_t begin;	 /* column of `out` where the cell begins */
	size_t blank;	 /* spaces due in front of the next cell that is not empty */
	unsigned widest; /* width of the widest name */
	bool utf8;	 /* names may have characters beyond ASCII */
	bool epoch;	 /* -ttt: times are seconds since the Epoch, not times of day */
};

/* ------------------------------------------------------------------ what is needed */

bool summary_needs_each_call(const struct output_options *options)
{
	static const uint8_t each[] = {COLUMN_SHORTEST, COLUMN_LONGEST, COLUMN_FIRST, COLUMN_LAST};

	for (unsigned i = 0; i < options->column_count; i++)
		if (memchr(each, options->columns[i], sizeof each))
			return true;
	return options->script_line;
}

bool summary_needs_buckets(const struct output_options *options)
{
	for (unsigned i = 0; i < options->column_count; i++)
		if (options->columns[i] == COLUMN_HISTOGRAM ||
		    table[options->columns[i]].thousandths)
			return true;
	return options->histogram;
}

/* ------------------------------------------------------------------ order */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_name(const void *a, const void *b)
{
	const struct summary_row *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static int by_time(const void *a, const void *b)
{
	const struct summary_row *left = a, *right = b;
	int order = compare_numbers(right->tally.time, left->tally.time);

	if (!order)
		order = compare_numbers(right->tally.calls, left->tally.calls);
	return order ? order : by_name(a, b);
}

static int by_calls(const void *a, const void *b)
{
	const struct summary_row *left = a, *right = b;
	int order = compare_numbers(right->tally.calls, left->tally.calls);

	if (!order)
		order = compare_numbers(right->tally.time, left->tally.time);
	return order ? order : by_name(a, b);
}

static int by_sum(const void *a, const void *b)
{
	const struct summary_row *left = a, *right = b;
	const int order = (right->tally.sum > left->tally.sum) -
			  (right->tally.sum < left->tally.sum);

	return order ? order : by_name(a, b);
}

static void sort_rows(struct vec *rows, int (*compare)(const void *, const void *))
{
	if (rows->count > 1)
		qsort(rows->items, rows->count, rows->item_size, compare);
}

void summary_sort_by_name(struct vec *rows)
{
	sort_rows(rows, by_name);
}

/* ------------------------------------------------------------------ cells */

static unsigned width_of(const struct line *line, unsigned column)
{
	return column == COLUMN_NAME ? line->widest : table[column].width;
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

/* Returns hundredths of a percent. */
static uint64_t share_of(const struct tally *tally, const struct tally *total)
{
	double share = total->time ? (double)tally->time / (double)total->time : 0;

	return (uint64_t)(share * 10000 + 0.5);
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
	put_text(line, text, table[COLUMN_SUM].width, true);
}

static void put_time(struct line *line, uint64_t time)
{
	const time_t second = (time_t)(time / NS_PER_S);
	char text[64] = "";
	struct tm parts;

	if (!time)
		snprintf(text, sizeof text, "-");
	else if (line->epoch)
		snprintf(text, sizeof text, "%llu.%06llu", (unsigned long long)second,
			 (unsigned long long)(time % NS_PER_S / NS_PER_US));
	else if (localtime_r(&second, &parts))
		snprintf(text, sizeof text, "%02d:%02d:%02d.%06llu", parts.tm_hour, parts.tm_min,
			 parts.tm_sec, (unsigned long long)(time % NS_PER_S / NS_PER_US));
	put_text(line, text, TIME_WIDTH, true);
}

/* Writes a cell about the times of single calls, of which there are some. */
static void put_distribution(struct line *line, unsigned column, const struct tally *tally)
{
	const unsigned width = table[column].width;

	if (table[column].thousandths) {
		put_number(line, tally_quantile(tally, table[column].thousandths), 3, width);
	} else if (column == COLUMN_HISTOGRAM) {
		begin_cell(line);
		histogram_put_cell(line->out, tally->times, line->utf8);
		end_cell(line, width);
	} else {
		put_number(line,
			   (column == COLUMN_SHORTEST ? tally->shortest : tally->longest) /
				   NS_PER_US,
			   0, width);
	}
}

static bool has_distribution(unsigned column, const struct tally *tally)
{
	return column == COLUMN_SHORTEST || column == COLUMN_LONGEST ? tally->timed != 0
								     : tally->times != NULL;
}

static void put_cell(struct line *line, unsigned column, const struct summary_row *row,
		     const struct tally *total)
{
	const struct tally *tally = &row->tally;
	unsigned width = table[column].width;

	if (column == COLUMN_SHARE)
		put_number(line, share_of(tally, total), 2, width);
	else if (column == COLUMN_TOTAL)
		put_number(line, tally->time / NS_PER_US, 6, width);
	else if (column == COLUMN_AVERAGE)
		put_number(line, tally->calls ? tally->time / NS_PER_US / tally->calls : 0, 0,
			   width);
	else if (column == COLUMN_CALLS)
		put_number(line, tally->calls, 0, width);
	else if (column == COLUMN_SUM)
		put_sum(line, tally);
	else if (column == COLUMN_NAME)
		put_shown_name(line, row->name);
	else if (column == COLUMN_FIRST || column == COLUMN_LAST)
		put_time(line, column == COLUMN_FIRST ? tally->first : tally->last);
	else if (!has_distribution(column, tally)) /* no call has returned */
		put_text(line, "-", width, true);
	else
		put_distribution(line, column, tally);
}

/* Writes a cell of the last line; columns that cannot be summed up stay empty. */
static void put_total(struct line *line, unsigned column, const struct tally *total)
{
	if (column == COLUMN_SHARE)
		put_number(line, 10000, 2, table[column].width);
	else if (column == COLUMN_TOTAL)
		put_number(line, total->time / NS_PER_US, 6, table[column].width);
	else if (column == COLUMN_CALLS)
		put_number(line, total->calls, 0, table[column].width);
	else if (column == COLUMN_SUM)
		put_sum(line, total);
	else if (column == COLUMN_NAME)
		put_text(line, "total", line->widest, false);
	else
		line->blank += table[column].width + 1;
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
		put_text(line, table[column].heading, width_of(line, column),
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

void summary_table_put(struct outbuf *out, struct vec *rows, const struct tally *total,
		       const struct output_options *options)
{
	const uint8_t *columns = options->column_count ? options->columns
				 : options->sum	       ? usual_with_sum
						       : usual;
	unsigned count = options->column_count ? options->column_count
			 : options->sum	       ? sizeof usual_with_sum
					       : sizeof usual;
	struct line line = {.out = out,
			    .widest = NAME_WIDTH,
			    .utf8 = options->utf8,
			    .epoch = options->time_stamp >= 3};

	if (options->sort == SORT_CALLS)
		sort_rows(rows, by_calls);
	else if (options->sort == SORT_SUM)
		sort_rows(rows, by_sum);
	else if (options->sort != SORT_NAME)
		sort_rows(rows, by_time);
	/* The last column needs no padding. */
	if (columns[count - 1] != COLUMN_NAME)
		line.widest = widest_name(rows);
	for (unsigned i = 0; i < count; i++)
		put_heading(&line, columns[i], options);
	end_line(&line);
	put_rules(&line, columns, count);
	for (size_t i = 0; i < rows->count; i++) {
		const struct summary_row *row = vec_at(rows, i);

		for (unsigned k = 0; k < count; k++)
			put_cell(&line, columns[k], row, total);
		end_line(&line);
		if (options->histogram && row->tally.times)
			histogram_put_lines(out, row->tally.times);
	}
	put_rules(&line, columns, count);
	for (unsigned i = 0; i < count; i++)
		put_total(&line, columns[i], total);
	end_line(&line);
}

void summary_table_put_of(struct outbuf *out, int32_t pid, struct vec *rows,
			  const struct tally *total, const struct output_options *options)
{
	if (!pid) {
		summary_table_put(out, rows, total, options);
		return;
	}
	if (!rows->count)
		return;
	outbuf_text(out, "process ");
	outbuf_signed(out, pid);
	outbuf_newline(out);
	summary_table_put(out, rows, total, options);
	outbuf_newline(out);
}
