/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML page of --report: see report.c. */
#ifndef TRACER_SINK_REPORT_REPORT_H
#define TRACER_SINK_REPORT_REPORT_H

#include "sink/sink.h"

struct sink *report_sink_create(const struct sink_target *target);

#endif
