/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -x and -e of a replay: which of the recorded functions are shown. */
#ifndef TRACER_REPLAY_REPLAY_FILTER_H
#define TRACER_REPLAY_REPLAY_FILTER_H

#include "base/vec.h"
#include "probe/probe.h"

#include <stdbool.h>

/* What was asked for. The vecs are of const char *, and must stay valid. */
struct replay_wishes {
	const struct vec *calls;    /* -e */
	const struct vec *entries;  /* -x */
	const struct vec *optional; /* those of `entries` that recipes name */
	bool no_default;	    /* -L */
	bool entries_only;	    /* -g */
	bool system_calls;	    /* -S */
};

struct replay_filter;

/* Returns NULL after a message if a filter is not valid. */
struct replay_filter *replay_filter_create(const struct replay_wishes *wishes);
void replay_filter_destroy(struct replay_filter *filter);

/* Returns true if the calls of the probe are shown; they all are if nothing was asked for. */
bool replay_filter_shows(struct replay_filter *filter, const struct probe_info *probe);
/*
 * Returns how much was asked for and is not in the trace, and names it on stderr unless it is
 * quiet.
 */
size_t replay_filter_list_unmatched(const struct replay_filter *filter, bool is_quiet);

#endif
