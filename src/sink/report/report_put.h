/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the page of --report: see report_put.c. */
#ifndef TRACER_SINK_REPORT_REPORT_PUT_H
#define TRACER_SINK_REPORT_REPORT_PUT_H

#include "sink/report/report_state.h"

/* Writes the whole page. Returns 0 or -errno. */
int report_put(struct report_sink *report);

#endif
