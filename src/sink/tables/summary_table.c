/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of -c: which columns they have, in which order the rows are, and what is in a cell.
 * summary.c and groups.c count; summary_text.c, summary_json.c and summary_csv.c write.
 */
#include "sink/tables/summary_table.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t usual[] = {COLUMN_SHARE, COLUMN_TOTAL, COLUMN_AVERAGE, COLUMN_CALLS,
				COLUMN_NAME};
static const uint8_t usual_with_sum[] = {COLUMN_SHARE, COLUMN_TOTAL, COLUMN_AVERAGE,
					 COLUMN_CALLS, COLUMN_SUM,   COLUMN_NAME};

/* ------------------------------------------------------------------ columns */

struct summary_columns summary_columns_shown(const struct output_options *options)
{
	if (options->column_count)
		return (struct summary_columns){options->columns, options->column_count};
	if (options->sum)
		return (struct summary_columns){usual_with_sum, sizeof usual_with_sum};
	return (struct summary_columns){usual, sizeof usual};
}

unsigned summary_column_quantile(unsigned column)
{
	static const unsigned thousandths[SUMMARY_COLUMNS] = {[COLUMN_P50] = 500,
							      [COLUMN_P90] = 900,
							      [COLUMN_P95] = 950,
							      [COLUMN_P99] = 990,
							      [COLUMN_P999] = 999};

	return thousandths[column];
}

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
		    summary_column_quantile(options->columns[i]))
			return true;
	return options->histogram;
}

/* ------------------------------------------------------------------ cells */

static struct summary_cell cell_of(uint64_t number)
{
	return (struct summary_cell){.is_known = true, .number = number};
}

/* Returns hundredths of a percent. */
static uint64_t share_of(const struct tally *tally, const struct tally *total)
{
	const double share = total->time ? (double)tally->time / (double)total->time : 0;

	return (uint64_t)(share * 10000 + 0.5);
}

/* What is known of single calls, once some have returned. */
static struct summary_cell cell_of_calls(const struct tally *tally, unsigned column)
{
	const unsigned thousandths = summary_column_quantile(column);

	if (column == COLUMN_SHORTEST || column == COLUMN_LONGEST)
		return (struct summary_cell){.is_known = tally->timed != 0,
					     .number = column == COLUMN_SHORTEST ? tally->shortest
										 : tally->longest};
	return (struct summary_cell){
		.is_known = tally->times != NULL,
		.number = tally->times && thousandths ? tally_quantile(tally, thousandths) : 0};
}

struct summary_cell summary_cell_get(const struct summary_row *row, unsigned column,
				     const struct tally *total)
{
	const struct tally *tally = &row->tally;

	switch (column) {
	case COLUMN_SHARE:
		return cell_of(share_of(tally, total));
	case COLUMN_TOTAL:
		return cell_of(tally->time);
	case COLUMN_AVERAGE:
		return cell_of(tally->calls ? tally->time / tally->calls : 0);
	case COLUMN_CALLS:
		return cell_of(tally->calls);
	case COLUMN_SUM:
	case COLUMN_NAME:
		return cell_of(0);
	case COLUMN_FIRST:
		return (struct summary_cell){.is_known = tally->first, .number = tally->first};
	case COLUMN_LAST:
		return (struct summary_cell){.is_known = tally->last, .number = tally->last};
	default:
		return cell_of_calls(tally, column);
	}
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

void summary_sort(struct vec *rows, const struct output_options *options)
{
	if (options->sort == SORT_CALLS)
		sort_rows(rows, by_calls);
	else if (options->sort == SORT_SUM)
		sort_rows(rows, by_sum);
	else if (options->sort != SORT_NAME)
		sort_rows(rows, by_time);
}
