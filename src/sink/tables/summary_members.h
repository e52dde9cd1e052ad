/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of a table of -c in forms for programs, JSON and CSV: see summary_members.c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_MEMBERS_H
#define TRACER_SINK_TABLES_SUMMARY_MEMBERS_H

#include "sink/tables/summary_table.h"

struct summary_members {
	uint8_t column[SUMMARY_COLUMNS]; /* enum summary_column, each at most once */
	unsigned count;
};

/* Returns the columns of the table, with COLUMN_HISTOGRAM for --histogram. */
struct summary_members summary_members_of(const struct output_options *options);

/* Returns the name of a column, with its unit. */
const char *summary_member(unsigned column);

/* Return the least and the greatest ns of a power of two (base/histogram.h). */
uint64_t summary_octave_from(unsigned octave);
uint64_t summary_octave_to(unsigned octave);

#endif
