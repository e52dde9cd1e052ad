/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink for --format=json: see json.c. */
#ifndef TRACER_SINK_FORMS_JSON_H
#define TRACER_SINK_FORMS_JSON_H

#include "sink/sink.h"

struct sink *json_sink_create(const struct sink_target *target);

#endif
