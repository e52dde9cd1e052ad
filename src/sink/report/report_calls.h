/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which calls the report keeps, with their texts: see report_calls.c. */
#ifndef TRACER_SINK_REPORT_REPORT_CALLS_H
#define TRACER_SINK_REPORT_REPORT_CALLS_H

#include "sink/call_values.h"
#include "sink/report/report_state.h"

/*
 * Keeps a call that has returned in those lists that want it: of all calls, of its rows, and of its
 * cell. `call` is copied, with the texts of `values`. `rows`: those of the call.
 */
void report_calls_keep(struct report_sink *report, struct report_row *const *rows,
		       const struct report_call *call, unsigned column, struct call_values *values);

/* Keeps a call that will not end. */
void report_calls_keep_unfinished(struct report_sink *report, const struct report_call *call,
				  struct call_values *values);

/* Returns the calls that did not end, the innermost first; they stay the report's. */
struct report_call **report_calls_unfinished(const struct report_sink *report, size_t *count);

/* Frees all lists but those of rows. */
void report_calls_deinit(struct report_sink *report);

#endif
