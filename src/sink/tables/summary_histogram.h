/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the times of a function's calls are distributed, in the table of -c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_HISTOGRAM_H
#define TRACER_SINK_TABLES_SUMMARY_HISTOGRAM_H

#include "base/histogram.h"
#include "sink/render/outbuf.h"

#include <stdbool.h>

/*
 * A cell has a character for each power of two of ns, from 2^HISTOGRAM_CELL_FIRST on: the first
 * one is also for shorter times, the last one for longer ones. So the cells of all rows have one
 * scale, which is the heading.
 */
enum { HISTOGRAM_CELL_FIRST = 7, HISTOGRAM_CELL_WIDTH = 28 };
#define HISTOGRAM_CELL_HEADING "...1us.......1ms.......1s..."

/* Writes a cell, without the blanks at its end. `utf8`: with characters that are not ASCII. */
void histogram_put_cell(struct outbuf *out, const struct histogram *times, bool utf8);

/* Stores how many times each character of a cell stands for. */
void histogram_cells(const struct histogram *times, uint64_t counts[HISTOGRAM_CELL_WIDTH]);
/*
 * Writes a cell of such counts, with a character for `each` (1 or more) of them, without the blanks
 * at its end.
 */
void histogram_put_strip(struct outbuf *out, const uint64_t *counts, unsigned each, bool utf8);

/* Writes a heading, and a line for each power of two from the least to the greatest time. */
void histogram_put_lines(struct outbuf *out, const struct histogram *times);

#endif
