/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --format=otlp and --otlp: spans of OpenTelemetry: see otlp.c. */
#ifndef TRACER_SINK_OTLP_OTLP_H
#define TRACER_SINK_OTLP_OTLP_H

#include "sink/sink.h"

struct sink *otlp_sink_create(const struct sink_target *target);

#endif
