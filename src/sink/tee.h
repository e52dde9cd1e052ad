/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sink that passes all records on to several others: --format=FORM:FILE. */
#ifndef TRACER_SINK_TEE_H
#define TRACER_SINK_TEE_H

#include "base/vec.h"
#include "sink/sink.h"

/* `sinks`: struct sink *; it takes over the vec and the sinks. */
struct sink *tee_create(struct vec *sinks);

#endif
