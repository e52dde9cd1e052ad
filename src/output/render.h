/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a record as text, as their types want them shown. */
#ifndef TRACER_OUTPUT_RENDER_H
#define TRACER_OUTPUT_RENDER_H

#include "output/outbuf.h"
#include "proto/prototype.h"
#include "record/record.h"

#include <stdbool.h>

/* Walks the values of a record and never leaves it, whatever its lengths and counts say. */
struct value_cursor {
	const unsigned char *at, *end;
	unsigned left;
};

struct value_cursor value_cursor_start(const struct record *record);
/* The next value with all its bytes, or NULL: no more, or the record is broken here. */
const struct record_value *value_cursor_next(struct value_cursor *cursor);

/* How many parameters are captured at entry: those before the first '+' (proto/plan.h). */
unsigned render_entry_count(const struct prototype *prototype);

/*
 * The parameters `first` up to, not including, `last`, each from the cursor's next values, with ", "
 * in front of every one but parameter 0. Where the record does not hold what the prototype wants, a
 * `?` takes its place and it ends. Strings are cut to `string_max` bytes.
 */
void render_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
		      unsigned last, struct value_cursor *cursor, unsigned string_max);

/* The result, which is the cursor's next value; <void> when there is none by type. */
void render_result(struct outbuf *out, const struct prototype *prototype,
		   struct value_cursor *cursor, unsigned string_max);

/* One value. */
void render_value(struct outbuf *out, const struct type *type, const struct record_value *value,
		  unsigned string_max);

/* "!!! not traced: WHAT: WHY !!!", the line of a RECORD_UNTRACED, without its end. */
void render_untraced(struct outbuf *out, const struct record *record);

#endif
