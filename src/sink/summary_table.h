/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the table of -c: its columns (-U), its order (--sort), its text. summary.c does the
 * counting.
 */
#ifndef TRACER_SINK_SUMMARY_TABLE_H
#define TRACER_SINK_SUMMARY_TABLE_H

#include "base/vec.h"
#include "sink/outbuf.h"
#include "sink/sink.h"

#include <stdint.h>

/* The counts for a function. Times in ns. */
struct tally {
	uint64_t calls;
	uint64_t time;
	uint64_t timed; /* calls whose own time is known: `shortest` and `longest` are of these */
	uint64_t shortest, longest;
	double sum; /* --sum: of an expression's values */
	bool sums_durations;
};

struct summary_row {
	const char *name; /* as it is shown; not owned */
	struct tally tally;
};

void tally_add(struct tally *sum, const struct tally *tally);

/* Counts the time of a call that has returned after `duration` ns. */
void tally_time(struct tally *tally, uint64_t duration);

/* Sorts rows (struct summary_row) by name. */
void summary_sort_by_name(struct vec *rows);

/*
 * Appends the whole table to `out`: heading, rows, a line with `total`. The rows must be sorted by
 * name, and are reordered as the options say.
 */
void summary_table_put(struct outbuf *out, struct vec *rows, const struct tally *total,
		       const struct output_options *options);

/*
 * Appends the table of the process `pid`, with its number above, or nothing if there are no rows.
 * With a `pid` of 0, as summary_table_put().
 */
void summary_table_put_of(struct outbuf *out, int32_t pid, struct vec *rows,
			  const struct tally *total, const struct output_options *options);

/* Returns true if the table of -c needs the time or the line of each call, and not only sums. */
bool summary_needs_each_call(const struct output_options *options);

#endif
