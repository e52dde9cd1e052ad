/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of --top: what was counted of the calls with one key, the last of these calls, and the
 * figures of both that are shown.
 */
#ifndef TRACER_SINK_TABLES_TOP_ROWS_H
#define TRACER_SINK_TABLES_TOP_ROWS_H

#include "proto/names.h"
#include "record/record.h"
#include "sink/tables/summary_histogram.h"
#include "sink/tables/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_row;

/* A call that is kept as its records. The block of memory has them behind it. */
struct top_call {
	struct top_row *row;
	struct top_call *newer_in_row, *older_in_row;
	struct top_call *newer, *older; /* among the calls of all rows */
	const struct record *entry;	/* NULL: it was not seen */
	const struct record *end;	/* NULL: the call has not ended */
	size_t size;
};

/* What is shown of a row: as it was at the last top_rows_tick(). Times in ns. */
struct top_figures {
	double rate; /* calls a second since the tick before */
	uint64_t calls, time, p50, p99, longest;
	bool has_times; /* of `p50`, `p99`, `longest` and `times`: a call has returned */
	uint64_t times[HISTOGRAM_CELL_WIDTH]; /* as histogram_cells() counts them */
};

struct top_row {
	struct tally tally;
	struct top_figures figures;
	struct top_call *newest, *oldest; /* its last calls; NULL: none */
	unsigned kept;			  /* how many these are */
	char *name;			  /* as it is shown, if that is not the key; owned */
	char key[];
};

/* Begins with top_rows_begin(). */
struct top_rows {
	struct names names;		  /* key → struct top_row, which owns the key */
	struct top_row *others;		  /* in `names`; NULL: there was room for all keys */
	struct top_call *newest, *oldest; /* the calls of all rows */
	size_t bytes;			  /* of them */
	struct top_figures all;		  /* `rate` and `calls` of all rows */
	uint64_t begun;			  /* when counting began: ns since the Epoch */
	uint64_t ticked;		  /* clock_now() of the last tick */
};

/* `wall`: ns since the Epoch; `now`: clock_now(). */
void top_rows_begin(struct top_rows *rows, uint64_t wall, uint64_t now);
void top_rows_end(struct top_rows *rows);

/*
 * Returns the row with the key, which is created if it is new; if there are `most` already, the one
 * for all others. *is_new is set if it was created.
 */
struct top_row *top_rows_find(struct top_rows *rows, const char *key, size_t length, unsigned most,
			      bool *is_new);
/* Counts a call in a row. One of the records may be NULL; both are copied. */
void top_rows_count(struct top_rows *rows, struct top_row *row, const struct record *entry,
		    const struct record *end);

/* Brings the figures of all rows up to date. `now`: clock_now(). */
void top_rows_tick(struct top_rows *rows, uint64_t now);
/* Drops the kept calls of a probe: its description is about to be removed. */
void top_rows_forget(struct top_rows *rows, uint32_t probe);

size_t top_rows_number(const struct top_rows *rows);
struct top_row *top_rows_at(const struct top_rows *rows, size_t index);
/* Returns the text that a row is shown as. Nothing in it is escaped. */
const char *top_row_name(const struct top_row *row);

#endif
