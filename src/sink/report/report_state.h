/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sink of --report has counted and kept. It is internal to the files report*.c. */
#ifndef TRACER_SINK_REPORT_REPORT_STATE_H
#define TRACER_SINK_REPORT_REPORT_STATE_H

#include "sink/otlp/db_functions.h"
#include "sink/render/render.h"
#include "sink/report/report_cells.h"
#include "sink/report/report_flame.h"
#include "sink/report/report_rows.h"
#include "sink/report/report_threads.h"
#include "sink/sink.h"

/* How many calls are kept: of all, of a row, and of those that did not end. */
enum { REPORT_SLOWEST = 1000, REPORT_ROW_CALLS = 8, REPORT_UNFINISHED_MAX = 200 };
/* How many other events, and remarks about what could not be traced. */
enum { REPORT_EVENTS_MAX = 2000, REPORT_UNTRACED_MAX = 1000 };

/* A signal, exec, or the end of a process. */
struct report_event {
	uint64_t time;
	int32_t pid, tid;
	uint8_t kind; /* enum record_kind */
	int64_t number;
};

/* What could not be traced; texts owned. */
struct report_untraced {
	char *what, *why;
};

struct report_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct report_sink * */
	struct sink_target target;
	struct render_options render;
	struct report_grid grid;
	struct report_rows tables[REPORT_TABLES];
	struct report_cells cells;
	struct report_slowest slowest;
	struct report_threads threads;
	struct report_flame flame;
	struct map functions;  /* id of a probe + 1 → struct report_row */
	struct map statements; /* the same → one of `shapes`, or `statements` if none */
	struct map lines;      /* record.stack → struct report_row, or `lines` if none */
	struct expression
		*shapes[DB_ARGUMENTS]; /* of statements, by argument; the part of one is the text */
	struct vec unfinished;	       /* struct report_call * */
	struct vec events;	       /* struct report_event */
	struct vec untraced;	       /* struct report_untraced */
	uint64_t events_left_out, untraced_left_out;
	uint64_t calls, unfinished_calls, unwound_calls, unfinished_left_out;
	uint64_t time;	      /* ns, of all calls */
	uint64_t first, last; /* times of records, ns since the Epoch; 0: none */
	uint64_t lost;	      /* calls of which there are no records */
	size_t kept_bytes;    /* of texts of calls, also of those that are not kept any more */
};

#endif
