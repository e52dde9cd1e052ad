/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call as a line of --top. */
#ifndef TRACER_SINK_TABLES_TOP_LINE_H
#define TRACER_SINK_TABLES_TOP_LINE_H

#include "sink/sink.h"

/*
 * Appends a call, without a newline: time of day, duration, thread, name, arguments, result, line
 * of the script. One of `entry` and `end` may be NULL. Nothing in it controls a terminal.
 */
void top_line_put(struct outbuf *out, const struct sink_target *target, const struct record *entry,
		  const struct record *end);

#endif
