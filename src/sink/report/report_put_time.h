/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the time line and the flame graph of the report: see report_put_time.c. */
#ifndef TRACER_SINK_REPORT_REPORT_PUT_TIME_H
#define TRACER_SINK_REPORT_REPORT_PUT_TIME_H

#include "sink/report/report_state.h"

/* Writes a member: the threads with their slices. */
void report_put_threads(struct outbuf *out, const struct report_sink *report);
/* Writes a member: the tree, each node behind its parent. */
void report_put_flame(struct outbuf *out, const struct report_sink *report);
/* Writes members: signals, exec and ends of processes; what could not be traced. */
void report_put_events(struct outbuf *out, const struct report_sink *report);

#endif
