/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders the values of a record as text, by their types. */
#ifndef TRACER_SINK_RENDER_RENDER_H
#define TRACER_SINK_RENDER_RENDER_H

#include "proto/prototype.h"
#include "record/record.h"
#include "sink/render/outbuf.h"

#include <stdbool.h>

/* Walks the values of a record, and stays within it whatever its lengths and counts are. */
struct value_cursor {
	const unsigned char *at, *end;
	unsigned left;
	int32_t pid; /* the process of the record */
};

struct value_cursor value_cursor_start(const struct record *record);
/* Returns the next value with all its bytes, or NULL at the end or where the record is damaged. */
const struct record_value *value_cursor_next(struct value_cursor *cursor);

/*
 * Finds names for code at an address. Records do not contain them: they are rendered as soon as
 * they are made, before any loaded module changes.
 */
struct code_names {
	/*
	 * Returns `NAME`, `NAME@LIB` or `NAME+0x4@LIB` for code of the process, which the caller
	 * frees, or NULL if there is no name.
	 */
	char *(*find)(void *context, int32_t pid, uint64_t address);
	/*
	 * Returns `MODULE(FUNCTION+0x4)` for a return address of the process, or `MODULE+0x1136`
	 * if the function has no name; the caller frees it. NULL: it is in no module.
	 */
	char *(*place)(void *context, int32_t pid, uint64_t address);
	/* Stores the name of a thread (comm), or "". NULL: names of threads are not known. */
	void (*thread)(void *context, int32_t tid, char name[16]);
	/*
	 * Returns a number that changes whenever an address may have got another name. NULL: none
	 * ever does.
	 */
	uint64_t (*changes)(void *context);
	void *context;
};

/* How much of values is shown, and how. */
struct render_options {
	unsigned string_max; /* bytes of a string */
	unsigned array_max;  /* elements of an array */
	bool names;	     /* show names of parameters, where the prototype has them */
	bool utf8;	     /* the reader knows UTF-8: printable characters are not escaped */
	const struct code_names *code; /* NULL: functions have no names */
	uint32_t unknown; /* set of parameters that are shown as `...`, and have no values */
};

/* Returns how many parameters are captured at entry: those before the first '+' (proto/plan.h). */
unsigned render_entry_count(const struct prototype *prototype);

/*
 * Renders the parameters from `first` up to, but not including, `last`, from the cursor's next
 * values, with ", " in front of all but the first one shown. If the record does not match the
 * prototype, it writes `?` for the parameter and stops.
 */
void render_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
		      unsigned last, struct value_cursor *cursor,
		      const struct render_options *options);

/* Renders the result, which is the cursor's next value; <void> if the type has none. */
void render_result(struct outbuf *out, const struct prototype *prototype,
		   struct value_cursor *cursor, const struct render_options *options);
/* Skips the values of the result, which come before those of the parameters. */
void render_skip_result(const struct prototype *prototype, struct value_cursor *cursor);

/* The state of rendering one parameter or result. */
struct rendering {
	struct outbuf *out;
	const struct render_options *options;
	struct value_cursor *cursor; /* the values that follow */
	unsigned argument;	     /* which all of its values must have */
	unsigned levels;	     /* of values nested in each other */
	uint8_t lens;		     /* lens of the struct around it (enum type_lens) */
	bool ended;		     /* the record does not match, or is nested too deeply */
	/* the arguments of a format, at `deferred`, have not been shown yet */
	bool has_deferred;
	struct value_cursor deferred;
};

/* Renders one value, and those that belong to it. */
void render_typed(struct rendering *rendering, const struct type *type,
		  const struct record_value *value);
/* Renders a number or a pointer: the low `size` bytes of a word. */
void render_word(struct rendering *rendering, const struct type *type, uint64_t word,
		 unsigned size);

/*
 * Returns the type that a parameter has in this call, and sets r->argument, which must be its
 * index, to what its values have for `argument`. NULL: it was not passed, and its values are
 * skipped. Parameters are asked for in their order; `selector` has what later ones depend on, and
 * is 0 at first.
 */
const struct type *render_passed_type(struct rendering *r, const struct parameter *parameter,
				      uint64_t *selector);

/* Returns the place that a call returns to, as code_names.place(), or NULL. */
char *render_caller(const struct code_names *code, const struct record *record);

/* Writes "!!! not traced: WHAT: WHY !!!", the line of a RECORD_UNTRACED, without the newline. */
void render_untraced(struct outbuf *out, const struct record *record);

#endif
