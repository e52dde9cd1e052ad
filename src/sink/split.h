/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink that has a sink of its own for each process, with a file each (-ff) or a table each
 * (--per-process): see split.c.
 */
#ifndef TRACER_SINK_SPLIT_H
#define TRACER_SINK_SPLIT_H

#include "sink/sink.h"

/*
 * Creates a sink that has a sink of `kind` for each process. Without target->path, all of them
 * write to target->fd. If a file cannot be opened, that is reported on stderr, and record() returns
 * the error.
 */
struct sink *split_sink_create(const struct sink_kind *kind, const struct sink_target *target);

#endif
