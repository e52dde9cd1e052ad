/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of --top: which of them a screen has room for, and what is in them. */
#ifndef TRACER_VIEW_TOP_CELLS_H
#define TRACER_VIEW_TOP_CELLS_H

#include "sink/render/outbuf.h"
#include "view/top_state.h"

/* The width of each column that is shown; 0: it is not. That of the name is what is left. */
struct top_widths {
	unsigned of[TOP_COLUMNS];
};

struct top_widths top_cells_fit(unsigned columns);

/* Writes the line above the columns. The one by which rows are ordered has an asterisk. */
void top_cells_put_heading(struct outbuf *out, const struct top_widths *widths,
			   enum top_column order, const char *name);
/* Writes a row; one that is selected begins with '>'. */
void top_cells_put_row(struct outbuf *out, const struct top_widths *widths,
		       const struct top_row *row, bool is_selected, bool utf8);

/* Writes a number, a rate, or a time in ns, with three digits or so and a unit. */
void top_cells_put_count(struct outbuf *out, uint64_t count);
void top_cells_put_rate(struct outbuf *out, double rate);
void top_cells_put_time(struct outbuf *out, uint64_t time);

#endif
