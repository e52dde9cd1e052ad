/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the tables of a sink go, and in which form: see summary_output.c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_OUTPUT_H
#define TRACER_SINK_TABLES_SUMMARY_OUTPUT_H

#include "sink/tables/summary_table.h"

struct summary_output {
	struct sink_target target;
	const struct table_form *form;
	uint64_t time, now;	  /* of the last moment: ns since the Epoch, and of the trace */
	uint64_t begun;		  /* `now` when counting began, or began anew */
	bool has_records;	  /* there was one */
	bool has_begun;		  /* something was written, unless target.has_begun says */
	uint64_t planted, inside; /* probes, and those counted in the process; 0: not known */
	uint64_t lost;		  /* calls, or ends of calls, without a record */
	struct outbuf untraced;	  /* to be written behind the last table */
};

/* Begins to count. The target's pointers must stay valid. */
void summary_output_init(struct summary_output *output, const struct sink_target *target);
void summary_output_deinit(struct summary_output *output);

/* Takes note of a moment (RECORD_TABLE), and of what a RECORD_UNTRACED says. */
void summary_output_record(struct summary_output *output, const struct record *record);
/* Counting begins anew at the last moment. */
void summary_output_restart(struct summary_output *output);

/*
 * Writes a table of the rows (struct summary_row), which are sorted by name and are reordered; at
 * the end of the trace (`is_last`) with what stands behind it. A process without rows has no table.
 * Returns 0 or -errno.
 */
int summary_output_write(struct summary_output *output, const struct vec *rows,
			 const struct tally *total, bool is_last);

#endif
