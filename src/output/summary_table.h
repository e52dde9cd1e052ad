/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of -c: its columns (-U), its order (--sort), its text. Counting is done in summary.c.
 */
#ifndef TRACER_OUTPUT_SUMMARY_TABLE_H
#define TRACER_OUTPUT_SUMMARY_TABLE_H

#include "base/vec.h"
#include "output/outbuf.h"
#include "output/writer.h"

#include <stdint.h>

/* What is known of the calls of a function. Times in ns. */
struct tally {
	uint64_t calls;
	uint64_t time;
	uint64_t timed; /* calls whose own time was seen: shortest and longest are among those */
	uint64_t shortest, longest;
};

struct summary_row {
	const char *name; /* as it is shown; not owned */
	struct tally tally;
};

void tally_add(struct tally *sum, const struct tally *tally);

/* A call of that function has returned after `duration` ns. */
void tally_time(struct tally *tally, uint64_t duration);

/* Sorts rows (struct summary_row) by name. */
void summary_sort_by_name(struct vec *rows);

/*
 * Adds the whole table to `out`: heading, rows, a line with `total`. The rows, which are sorted by
 * name, are put in the order that the options ask for.
 */
void summary_table_put(struct outbuf *out, struct vec *rows, const struct tally *total,
		       const struct output_options *options);

#endif
