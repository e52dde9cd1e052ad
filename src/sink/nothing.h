/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sink that shows nothing: --record without lines or a table beside it. */
#ifndef TRACER_SINK_NOTHING_H
#define TRACER_SINK_NOTHING_H

#include "sink/sink.h"

struct sink *nothing_sink_create(const struct sink_target *target);

#endif
