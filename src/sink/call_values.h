/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values that expressions find in one call, in its records: see call_values.c. */
#ifndef TRACER_SINK_CALL_VALUES_H
#define TRACER_SINK_CALL_VALUES_H

#include "base/strbuf.h"
#include "probe/expression_run.h"
#include "sink/sink.h"

/* A call with what is known of it. All pointers must stay valid while its values are used. */
struct call_values {
	const struct sink_target *target;
	const struct probe_info *probe; /* NULL: not known */
	const struct record *entry;	/* NULL: it was not seen */
	const struct record *end;	/* NULL: the call has not ended */
	struct expression_subject subject;
	struct expression_run run;
};

/* Begins with a call: `entry` or `end` is not NULL. */
void call_values_begin(struct call_values *values, const struct sink_target *target,
		       const struct record *entry, const struct record *end);
/* Frees what the values refer to. */
void call_values_end(struct call_values *values);

/* Returns the value of an expression, valid until call_values_end(). */
struct expression_value call_values_get(struct call_values *values,
					const struct expression *expression);

/*
 * Appends a value as text: numbers in decimal, pointers in hexadecimal, durations in seconds, times
 * as HH:MM:SS.micros, a power of two as its range, a text without quotes, "(unreadable)", or "-"
 * for what is not known. Nothing is escaped.
 */
void call_values_add(struct strbuf *text, const struct expression_value *value);

#endif
