/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters of a session: -e, -l and -x, and which of their rules matched nothing: see
 * filters.c.
 */
#ifndef TRACER_TARGET_FILTERS_H
#define TRACER_TARGET_FILTERS_H

#include "target/target_state.h"

/*
 * Parses the filters of the options; to be freed by filters_free() in any case. Returns 0, or
 * -errno after a message (then target->bad_filter is set).
 */
int filters_parse(struct target *target, struct match_filters *filters);
void filters_free(struct match_filters *filters);
/* Fills target->filters and looks up its rules about system calls. 0 or -errno. */
int filters_set_up(struct target *target);
/* Lists rules that matched nothing, unless no process lived long enough to be read. */
void filters_list_unmatched(struct target *target);

#endif
