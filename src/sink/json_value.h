/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of records as JSON: see json_value.c. */
#ifndef TRACER_SINK_JSON_VALUE_H
#define TRACER_SINK_JSON_VALUE_H

#include "sink/render.h"

/*
 * Writes the values of the parameters from `first` up to `last`, which are the cursor's next ones,
 * as objects with commas in between; *any: one was written before.
 */
void json_value_put_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
			      unsigned last, struct value_cursor *cursor,
			      const struct render_options *options, bool *any);
/* Writes the result, which is the cursor's next value. Returns false if there is none. */
bool json_value_put_result(struct outbuf *out, const struct prototype *prototype,
			   struct value_cursor *cursor, const struct render_options *options);

#endif
