/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls as a whole, when they have ended, and only those that a condition holds for. */
#ifndef TRACER_SINK_WHOLE_CALLS_H
#define TRACER_SINK_WHOLE_CALLS_H

#include "sink/sink.h"

/* Returns true if the options want some calls only. */
bool whole_calls_are_chosen(const struct output_options *options);

/*
 * Creates a sink of that kind, for one process or for all. If it takes calls as a whole, or some
 * calls only, another sink around it sees to that. `target`: as of sink_create().
 */
struct sink *whole_calls_create(const struct sink_kind *kind, const struct sink_target *target);

#endif
