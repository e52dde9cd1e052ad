/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the calls that the report has kept: see report_put_calls.c. */
#ifndef TRACER_SINK_REPORT_REPORT_PUT_CALLS_H
#define TRACER_SINK_REPORT_REPORT_PUT_CALLS_H

#include "sink/report/report_state.h"

/* Writes members: the columns of the calls, and the stacks that they refer to. */
void report_put_calls(struct outbuf *out, struct report_sink *report);

#endif
