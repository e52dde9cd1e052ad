/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line above a table of a part of the trace: see time_line.c. */
#ifndef TRACER_SINK_TABLES_TIME_LINE_H
#define TRACER_SINK_TABLES_TIME_LINE_H

#include "sink/render/outbuf.h"

#include <stdint.h>

/*
 * Appends the line of a table that is made at `time` (ns since the Epoch) and covers the last
 * `elapsed` ns.
 */
void time_line_put(struct outbuf *out, uint64_t time, uint64_t elapsed);

#endif
