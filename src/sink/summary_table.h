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
#include "sink/tally.h"

struct summary_row {
	const char *name; /* as it is shown; not owned */
	struct tally tally;
};

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

/* Returns true if the table of -c needs a record of each call: of its own time or its line. */
bool summary_needs_each_call(const struct output_options *options);
/* Returns true if it needs to know how the times of the calls are distributed. */
bool summary_needs_buckets(const struct output_options *options);

#endif
