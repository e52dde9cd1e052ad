/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a replay makes tables: see replay_tables.c. */
#ifndef TRACER_REPLAY_REPLAY_TABLES_H
#define TRACER_REPLAY_REPLAY_TABLES_H

#include "record/record.h"

struct sink;

struct replay_tables {
	struct sink *sink;
	uint64_t interval_ns;	 /* --interval; 0: none */
	unsigned interval_count; /* end behind so many; 0: do not */
	bool has_tables;	 /* the sink shows nothing but tables */
	uint64_t time;		 /* of the last moment, ns since the Epoch; at first the file's */
	uint64_t now;		 /* the same by the clock of the trace, in ns */
	uint64_t next;		 /* when an interval ends, ns since the Epoch; 0: not known yet */
	bool tells;		 /* the file tells of moments */
	bool continues;		 /* the trace began before the file */
	bool has_intervals;	 /* the file tells when the intervals of interval_ns ended */
	bool has_begun;		 /* the sink was told of the beginning */
	unsigned intervals;	 /* how many have ended */
	bool is_over;		 /* interval_count was reached */
	bool has_end;		 /* the file told when the trace ended */
};

/*
 * To be called with each record, before the sink gets it. RECORD_TABLE itself is not to be given to
 * the sink: it is here. Returns 0, or -errno of the sink.
 */
int replay_tables_record(struct replay_tables *tables, const struct record *record);
/*
 * Tells the sink when the trace ended, before it is finished; `last` is the latest time of a
 * record. Returns 0, or -errno of the sink.
 */
int replay_tables_finish(struct replay_tables *tables, uint64_t last);

#endif
