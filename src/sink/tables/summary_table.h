/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of -c, between what is counted (summary.c, groups.c) and how it is written (struct
 * table_form): see summary_table.c.
 */
#ifndef TRACER_SINK_TABLES_SUMMARY_TABLE_H
#define TRACER_SINK_TABLES_SUMMARY_TABLE_H

#include "base/vec.h"
#include "sink/render/outbuf.h"
#include "sink/sink.h"
#include "sink/tables/tally.h"

struct summary_row {
	const char *name; /* not owned */
	struct tally tally;
};

struct summary_table {
	const struct output_options *options;
	struct vec rows; /* of struct summary_row, in the order of --sort */
	struct tally total;
	bool has_pid; /* it is one of several, and that of the process `pid` */
	int32_t pid;
	uint64_t time;	  /* when it was made, in ns since the Epoch */
	uint64_t elapsed; /* how many ns it covers */
	bool has_time;	  /* a reader who sees several tables has to be told of both */
};

/* A form that tables are written in. All functions append to `out`. */
struct table_form {
	/* Writes what stands once in front of all tables. `has_pids`: each is of one process. */
	void (*put_heading)(struct outbuf *out, const struct output_options *options,
			    bool has_pids); /* NULL: nothing does */
	void (*put_table)(struct outbuf *out, const struct summary_table *table);
	/* Writes what a RECORD_UNTRACED says. NULL: the form has no place for it. */
	void (*put_untraced)(struct outbuf *out, const struct record *record,
			     const struct output_options *options);
	/* Writes how many probes there were, and how many of them were counted in the process. */
	void (*put_engines)(struct outbuf *out, uint64_t planted, uint64_t inside,
			    uint64_t lost); /* or NULL */
};

struct summary_columns {
	const uint8_t *column; /* enum summary_column */
	unsigned count;
};

/* Returns the columns of -U, or the usual ones. */
struct summary_columns summary_columns_shown(const struct output_options *options);

/* Returns the thousandths whose quantile a column shows; 0: it shows something else. */
unsigned summary_column_quantile(unsigned column);

/*
 * What is in a cell: hundredths of a percent (COLUMN_SHARE), ns, ns since the Epoch, or a count.
 * Sums, names and histograms are in the row itself.
 */
struct summary_cell {
	bool is_known;
	uint64_t number;
};

struct summary_cell summary_cell_get(const struct summary_row *row, unsigned column,
				     const struct tally *total);

/* Sorts rows (struct summary_row) by name. */
void summary_sort_by_name(struct vec *rows);
/* Sorts rows that are sorted by name as --sort says. */
void summary_sort(struct vec *rows, const struct output_options *options);

/* Returns true if the table of -c needs a record of each call: of its own time or its line. */
bool summary_needs_each_call(const struct output_options *options);
/* Returns true if it needs to know how the times of the calls are distributed. */
bool summary_needs_buckets(const struct output_options *options);

#endif
