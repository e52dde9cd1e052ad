/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of -c --by: a row for each different key. See groups.c. */
#ifndef TRACER_SINK_TABLES_GROUPS_H
#define TRACER_SINK_TABLES_GROUPS_H

#include "sink/sink.h"

/* A sink that groups calls by the values of target->options->keys. */
struct sink *groups_sink_create(const struct sink_target *target);

#endif
