/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the view of --top shows: shared by top_view.c, which changes it, and top_layout.c. */
#ifndef TRACER_VIEW_TOP_STATE_H
#define TRACER_VIEW_TOP_STATE_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "sink/tables/top.h"

enum top_column {
	TOP_RATE,
	TOP_CALLS,
	TOP_TOTAL,
	TOP_P50,
	TOP_P99,
	TOP_MAX,
	TOP_STRIP, /* the histogram; it is no order */
	TOP_NAME,
	TOP_COLUMNS
};

enum top_mode {
	MODE_ROWS,
	MODE_FILTER, /* rows, and an expression is typed in */
	MODE_CALLS,  /* the last calls of a row */
	MODE_HELP
};

struct top_view {
	struct top *top;
	char *what; /* what is traced, escaped */
	enum top_mode mode;
	enum top_column order;
	bool is_paused;
	uint64_t now;  /* ns since the Epoch, at the last tick that was shown */
	uint64_t lost; /* calls */
	char *message; /* the last message of the tracer; NULL: none */

	struct vec rows; /* const struct top_row *, in order: those that have calls */
	const struct top_row *selected; /* NULL: the first one */
	size_t first;			/* index of the row on top of the screen */
	unsigned page;			/* how many rows, or calls, the screen shows */

	const struct top_row *looked_at; /* MODE_CALLS */
	struct vec calls;		 /* char *, the newest first */
	size_t first_call;
	unsigned shift; /* columns by which calls are moved to the left */

	struct strbuf input; /* MODE_FILTER */
	char *error;	     /* why something was not done; NULL: nothing */
};

#endif
