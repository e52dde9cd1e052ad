/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes on one of N calls: see sampled_calls.c. */
#ifndef TRACER_SINK_SAMPLED_CALLS_H
#define TRACER_SINK_SAMPLED_CALLS_H

#include "sink/sink.h"

/*
 * Creates a sink that passes on to `inner`, which it takes over, one of `n` calls, and all that is
 * no call. `salt`: for equal ones, the calls with the same ids are chosen.
 */
struct sink *sampled_calls_create(struct sink *inner, uint64_t n, uint64_t salt);

/* From now on this sink passes on all calls. */
void sampled_calls_take_all(struct sink *sink);

#endif
