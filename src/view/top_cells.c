/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of --top. On a screen of 80 columns all of them have room. On a narrower one the less
 * important ones are left out, so that a name always has some columns.
 */
#include "view/top_cells.h"

#include "sink/render/escape.h"

#include <stdio.h>

enum { NAME_LEAST = 16, STRIP_NARROW = HISTOGRAM_CELL_WIDTH / 2, NAME_WIDE = 32 };
enum { MARK_WIDTH = 1, EXACT_MOST = 999999 };

static const struct {
	const char *heading;
	unsigned width;
} table[TOP_COLUMNS] = {
	[TOP_RATE] = {"calls/s", 7},
	[TOP_CALLS] = {"calls", 7},
	[TOP_TOTAL] = {"total", 6},
	[TOP_P50] = {"p50", 6},
	[TOP_P99] = {"p99", 6},
	[TOP_MAX] = {"max", 6},
	[TOP_STRIP] = {".1us..1ms..1s.", STRIP_NARROW},
	[TOP_NAME] = {"", 0},
};

struct top_widths top_cells_fit(unsigned columns)
{
	static const enum top_column by_importance[] = {TOP_RATE, TOP_TOTAL, TOP_P99,  TOP_CALLS,
							TOP_P50,  TOP_MAX,   TOP_STRIP};
	struct top_widths widths = {{0}};
	unsigned used = MARK_WIDTH;

	for (size_t i = 0; i < sizeof by_importance / sizeof *by_importance; i++) {
		const enum top_column column = by_importance[i];

		if (used + table[column].width + 1 + NAME_LEAST > columns)
			continue;
		widths.of[column] = table[column].width;
		used += table[column].width + 1;
	}
	if (widths.of[TOP_STRIP] &&
	    used + HISTOGRAM_CELL_WIDTH - STRIP_NARROW + NAME_WIDE <= columns) {
		widths.of[TOP_STRIP] = HISTOGRAM_CELL_WIDTH;
		used += HISTOGRAM_CELL_WIDTH - STRIP_NARROW;
	}
	widths.of[TOP_NAME] = columns > used ? columns - used : 1;
	return widths;
}

/* ------------------------------------------------------------------ numbers */

static void put_decimal(struct outbuf *out, double value, int digits, const char *unit)
{
	char text[32];

	snprintf(text, sizeof text, "%.*f", digits, value);
	outbuf_text(out, text);
	outbuf_text(out, unit);
}

/* Writes three digits, at least those in front of the point. */
static void put_scaled(struct outbuf *out, double value, const char *unit)
{
	put_decimal(out, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

void top_cells_put_count(struct outbuf *out, uint64_t count)
{
	static const char *const units[] = {"k", "M", "G", "T", "P", "E"};
	double value = (double)count / 1000;
	unsigned unit = 0;

	if (count <= EXACT_MOST) {
		outbuf_unsigned(out, count, 1, ' ');
		return;
	}
	for (; value >= 9999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
		value /= 1000;
	put_scaled(out, value, units[unit]);
}

void top_cells_put_rate(struct outbuf *out, double rate)
{
	if (rate > 0 && rate < 9.95)
		put_decimal(out, rate, 1, "");
	else
		top_cells_put_count(out, (uint64_t)(rate + 0.5));
}

void top_cells_put_time(struct outbuf *out, uint64_t time)
{
	static const char *const units[] = {"us", "ms", "s"};
	double value = (double)time / 1000;
	unsigned unit = 0;

	if (time < 1000) {
		outbuf_unsigned(out, time, 1, ' ');
		outbuf_text(out, "ns");
		return;
	}
	for (; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
		value /= 1000;
	put_scaled(out, value, units[unit]);
}

/* ------------------------------------------------------------------ lines */

/* Writes what is in `cell`, which is empty then, to the right of so many columns. */
static void put_cell(struct outbuf *out, struct outbuf *cell, unsigned width)
{
	if (cell->length < width)
		outbuf_spaces(out, width - cell->length);
	outbuf_bytes(out, cell->text, cell->length);
	cell->length = 0;
}

void top_cells_put_heading(struct outbuf *out, const struct top_widths *widths,
			   enum top_column order, const char *name)
{
	struct outbuf cell;

	outbuf_init(&cell, -1);
	for (unsigned column = 0; column < TOP_NAME; column++) {
		if (!widths->of[column])
			continue;
		outbuf_text(&cell, column == order ? "*" : "");
		outbuf_text(&cell, widths->of[column] == HISTOGRAM_CELL_WIDTH
					   ? HISTOGRAM_CELL_HEADING
					   : table[column].heading);
		put_cell(out, &cell, widths->of[column] + 1);
	}
	outbuf_text(out, order == TOP_NAME ? " *" : "  ");
	escape_source_name(out, name, false);
	outbuf_deinit(&cell);
}

static void put_figure(struct outbuf *out, const struct top_figures *figures,
		       enum top_column column)
{
	const uint64_t times[TOP_COLUMNS] = {
		[TOP_P50] = figures->p50, [TOP_P99] = figures->p99, [TOP_MAX] = figures->longest};

	if (column == TOP_RATE)
		top_cells_put_rate(out, figures->rate);
	else if (column == TOP_CALLS)
		top_cells_put_count(out, figures->calls);
	else if (column == TOP_TOTAL)
		top_cells_put_time(out, figures->time);
	else if (figures->has_times)
		top_cells_put_time(out, times[column]);
	else
		outbuf_char(out, '-');
}

void top_cells_put_row(struct outbuf *out, const struct top_widths *widths,
		       const struct top_row *row, bool is_selected, bool utf8)
{
	const unsigned strip = widths->of[TOP_STRIP];
	struct outbuf cell;

	outbuf_init(&cell, -1);
	outbuf_char(out, is_selected ? '>' : ' ');
	for (unsigned column = 0; column < TOP_STRIP; column++) {
		if (!widths->of[column])
			continue;
		put_figure(&cell, &row->figures, column);
		put_cell(out, &cell, widths->of[column]);
		outbuf_char(out, ' ');
	}
	if (strip) {
		const size_t begin = outbuf_column(out);

		if (row->figures.has_times)
			histogram_put_strip(out, row->figures.times, HISTOGRAM_CELL_WIDTH / strip,
					    utf8);
		outbuf_pad_to(out, begin + strip + 1);
	}
	outbuf_char(out, ' ');
	escape_source_name(out, top_row_name(row), utf8);
	outbuf_deinit(&cell);
}
