/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the table of -c has counted of one function. */
#ifndef TRACER_SINK_TABLES_TALLY_H
#define TRACER_SINK_TABLES_TALLY_H

#include "base/histogram.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeros are the counts of a function that was not called. Times in ns. */
struct tally {
	uint64_t calls;
	uint64_t time;
	uint64_t timed; /* calls whose own time is known: `shortest` and `longest` are of these */
	uint64_t shortest, longest;
	uint64_t first, last; /* when the first and the last call began, by the Epoch; 0: none */
	double sum;	      /* --sum: of an expression's values */
	bool sums_durations;
	/* The times of calls that have returned; NULL: not kept, or none has. Owned. */
	struct histogram *times;
};

void tally_deinit(struct tally *tally);
/* Adds the counts of `tally`, which stays as it is. */
void tally_add(struct tally *sum, const struct tally *tally);

/* Counts a call that began at `time`, in ns since the Epoch. */
void tally_call(struct tally *tally, uint64_t time);
/* Counts the time of a call that has returned after `duration` ns; not in `times`. */
void tally_time(struct tally *tally, uint64_t duration);
/* Counts `duration` so many times in `times`, and nowhere else. */
void tally_bucket(struct tally *tally, uint64_t duration, uint64_t times);

/*
 * Returns the ns that so many thousandths of the calls did not exceed, by `times`. If the time of
 * each single call is known, the result is not beyond the shortest and the longest.
 */
uint64_t tally_quantile(const struct tally *tally, unsigned thousandths);

#endif
