/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink for lines in ltrace's format: see text.c. */
#ifndef TRACER_SINK_FORMS_TEXT_H
#define TRACER_SINK_FORMS_TEXT_H

#include "sink/sink.h"

/* Creates a sink that writes ltrace-style lines to target->fd. */
struct sink *text_sink_create(const struct sink_target *target);

#endif
