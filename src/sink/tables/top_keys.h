/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rows of --top can be: the keys by which calls are grouped. */
#ifndef TRACER_SINK_TABLES_TOP_KEYS_H
#define TRACER_SINK_TABLES_TOP_KEYS_H

#include "base/map.h"
#include "base/strbuf.h"
#include "sink/call_values.h"

#include <stdbool.h>

enum top_grouping {
	TOP_BY,		 /* as --by says; without it by function */
	TOP_FUNCTION,	 /* by function, if --by says something else */
	TOP_LINE,	 /* by line of the script, if lines are known */
	TOP_FINGERPRINT, /* by the shape of the first argument that is a text */
	TOP_THREAD,
	TOP_GROUPINGS
};

struct top_keys {
	const struct output_options *options;
	struct vec line, thread; /* struct expression * */
	struct vec shapes;	 /* struct expression *: fingerprint(arg1), … */
	/* id of a probe + 1 → the expression in `shapes` that fits it, or `shapes` itself */
	struct map shape_of;
};

void top_keys_begin(struct top_keys *keys, const struct output_options *options);
void top_keys_end(struct top_keys *keys);
/* A probe is about to be removed from the table. */
void top_keys_forget(struct top_keys *keys, const struct probe_info *probe);

/* Returns true if the options make this grouping possible, and different from TOP_BY. */
bool top_keys_has(const struct top_keys *keys, enum top_grouping grouping);
/* Returns what the rows are called, as the heading of their names. */
const char *top_keys_heading(const struct top_keys *keys, enum top_grouping grouping);

/* Appends the key of a call: not empty, without a NUL, ended by one. */
void top_keys_add(struct top_keys *keys, enum top_grouping grouping, struct call_values *values,
		  struct strbuf *key);

#endif
