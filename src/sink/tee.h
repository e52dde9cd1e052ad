/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several sinks at once: --format=FORM:FILE. */
#ifndef TRACER_SINK_TEE_H
#define TRACER_SINK_TEE_H

#include "base/vec.h"
#include "sink/sink.h"

/*
 * Creates a sink of `kind` for the target, and one for each of `more` (struct session_output),
 * which writes to its own descriptor. All of them get the records that the returned sink gets.
 */
struct sink *sinks_create(const struct sink_kind *kind, const struct vec *more,
			  const struct sink_target *target);

#endif
