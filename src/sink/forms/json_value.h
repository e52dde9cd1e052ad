/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of records as JSON: see json_value.c. */
#ifndef TRACER_SINK_FORMS_JSON_VALUE_H
#define TRACER_SINK_FORMS_JSON_VALUE_H

#include "sink/render/render.h"

/*
 * Writes the values of the parameters from `first` up to `last`, which are the cursor's next ones,
 * as objects with commas in between; *any: one was written before.
 */
void json_value_put_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
			      unsigned last, struct value_cursor *cursor,
			      const struct render_options *options, bool *any);
/* The values of some parameters of a call, one after the other. */
struct json_values {
	struct rendering rendering;
	const struct prototype *prototype;
	unsigned index, last; /* the next parameter, and the one behind those that are asked for */
	uint64_t selector;    /* see render_passed_type() */
	bool is_in_format;
	/* What json_value_next() has gone to. NULL: an argument of a format. */
	const struct parameter *parameter;
	const struct type *type;
	const struct record_value *value;
};

/* Begins in front of the first one; as of json_value_put_arguments(). */
struct json_values json_value_begin(struct outbuf *out, const struct prototype *prototype,
				    unsigned first, unsigned last, struct value_cursor *cursor,
				    const struct render_options *options);
/* Goes to the next one. Returns false if there is none. */
bool json_value_next(struct json_values *values);
/* Writes it; to be called once for each. */
void json_value_put(struct json_values *values);
/* Returns true if less of a value is written than there is. */
bool json_value_is_cut(const struct record_value *value, const struct render_options *options);

/* Writes the result, which is the cursor's next value. Returns false if there is none. */
bool json_value_put_result(struct outbuf *out, const struct prototype *prototype,
			   struct value_cursor *cursor, const struct render_options *options);

#endif
