/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink for the table of -c: see summary.c. */
#ifndef TRACER_SINK_TABLES_SUMMARY_H
#define TRACER_SINK_TABLES_SUMMARY_H

#include "sink/sink.h"

/*
 * Creates a sink that counts calls and prints the table of -c to target->fd at finish(). The table
 * of one process (target->is_part) has the process named above it and an empty line behind it. A
 * process without calls gets no table. The part of no process has only the lines about functions
 * that cannot be traced.
 */
struct sink *summary_sink_create(const struct sink_target *target);

#endif
