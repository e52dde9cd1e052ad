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
	int32_t pid; /* whose record it is */
};

struct value_cursor value_cursor_start(const struct record *record);
/* The next value with all its bytes, or NULL: no more, or the record is broken here. */
const struct record_value *value_cursor_next(struct value_cursor *cursor);

/*
 * Who knows which function is at an address. Records do not say that: they are shown as soon as
 * they are made, before anything that is loaded changes.
 */
struct code_names {
	/*
	 * `NAME`, `NAME@LIB` or `NAME+0x4@LIB` of the process's code there, to be freed; NULL:
	 * nobody knows.
	 */
	char *(*find)(void *context, int32_t pid, uint64_t address);
	void *context;
};

/* How much of values is shown, and how. */
struct render_options {
	unsigned string_max; /* bytes of a string */
	unsigned array_max;  /* elements of an array that is not a value of its own */
	bool names;	     /* of parameters, where the prototype has them */
	bool utf8;	     /* who reads knows UTF-8: printable characters are not escaped */
	const struct code_names *code; /* NULL: nothing is known of functions */
};

/* How many parameters are captured at entry: those before the first '+' (proto/plan.h). */
unsigned render_entry_count(const struct prototype *prototype);

/*
 * The parameters `first` up to, not including, `last`, each from the cursor's next values, with
 * ", " in front of every one but the first that is shown. Where the record does not hold what the
 * prototype wants, a `?` takes its place and it ends.
 */
void render_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
		      unsigned last, struct value_cursor *cursor,
		      const struct render_options *options);

/* The result, which is the cursor's next value; <void> when there is none by type. */
void render_result(struct outbuf *out, const struct prototype *prototype,
		   struct value_cursor *cursor, const struct render_options *options);
/* Passes over the values of the result, which come before those of the parameters. */
void render_skip_result(const struct prototype *prototype, struct value_cursor *cursor);

/* One parameter or result in the making. */
struct rendering {
	struct outbuf *out;
	const struct render_options *options;
	struct value_cursor *cursor; /* what follows the value */
	unsigned argument;	     /* that all its values must be of */
	unsigned levels;	     /* of values in one another */
	uint8_t lens;		     /* that of the struct around (enum type_lens) */
	bool ended;		     /* the record is not what it should be, or too deep */
	bool has_deferred;	     /* a format has arguments, at `deferred`, not shown so far */
	struct value_cursor deferred;
};

/* One value, and those that belong to it. */
void render_typed(struct rendering *rendering, const struct type *type,
		  const struct record_value *value);
/* A number or a pointer: the low `size` bytes of a word. */
void render_word(struct rendering *rendering, const struct type *type, uint64_t word,
		 unsigned size);
/* The same as render_typed() of a VALUE_OBJECT (render_object.c). */
void render_object(struct rendering *rendering, const struct type *type,
		   const struct record_value *value);

/* "!!! not traced: WHAT: WHY !!!", the line of a RECORD_UNTRACED, without its end. */
void render_untraced(struct outbuf *out, const struct record *record);

#endif
