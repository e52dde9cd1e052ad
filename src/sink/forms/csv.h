/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of --format=csv: see csv.c. */
#ifndef TRACER_SINK_FORMS_CSV_H
#define TRACER_SINK_FORMS_CSV_H

#include "sink/sink.h"

struct sink *csv_sink_create(const struct sink_target *target);

#endif
