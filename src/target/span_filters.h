/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -x NAME, where NAME is a span: see span_filters.c. */
#ifndef TRACER_TARGET_SPAN_FILTERS_H
#define TRACER_TARGET_SPAN_FILTERS_H

#include "target/target_state.h"

/*
 * Finds the spans among the filters of -x, and fills in target->spans and target->entry_filters, in
 * which functions stand for them. To be called when the prototypes are known, before the filters
 * are parsed. Returns 0, or -EBADMSG after a message about a mistake in a span.
 */
int span_filters_set_up(struct target *target);
void span_filters_free(struct target *target);

#endif
