/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --top: what a live view shows of the calls, and the table at the end. It knows nothing of how it
 * is shown (view/).
 */
#ifndef TRACER_SINK_TABLES_TOP_H
#define TRACER_SINK_TABLES_TOP_H

#include "probe/expression.h"
#include "sink/sink.h"
#include "sink/tables/top_keys.h"
#include "sink/tables/top_rows.h"

struct top;

/*
 * A sink that counts calls for a view. It stores itself in *target->top, unless that is NULL; the
 * pointer is valid as long as the sink.
 */
struct sink *top_sink_create(const struct sink_target *target);

/*
 * The rows that are shown: those of all calls, by --by, or if a filter or another grouping is set,
 * of the calls since then. They change with the next record, tick, filter or grouping.
 */
const struct top_rows *top_rows(const struct top *top);
/* Brings the figures of all rows up to date. */
void top_tick(struct top *top);

enum top_grouping top_grouping(const struct top *top);
/* Returns what the rows are called. */
const char *top_heading(const struct top *top);
/* Groups calls by the next possibility, behind the last one by the first. */
void top_regroup(struct top *top);

/* Returns the text of the filter, or NULL. */
const char *top_filter(const struct top *top);
/*
 * Counts only calls for which the expression holds; NULL or an empty text: all. On a mistake, and
 * if it fits none of the functions that were called, returns false and stores why in *error.
 */
bool top_set_filter(struct top *top, const char *text, struct expression_error *error);

const struct output_options *top_options(const struct top *top);
/*
 * Appends a call as a line: time of day, duration, thread, name, arguments, result, line of the
 * script. Nothing in it controls a terminal.
 */
void top_put_call(const struct top *top, struct outbuf *out, const struct top_call *call);

#endif
