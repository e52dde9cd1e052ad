/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink for --format=chrome: see chrome.c. */
#ifndef TRACER_SINK_FORMS_CHROME_H
#define TRACER_SINK_FORMS_CHROME_H

#include "sink/sink.h"

struct sink *chrome_sink_create(const struct sink_target *target);

#endif
