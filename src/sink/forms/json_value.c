/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of records as JSON.
 *
 * An integer is a number, a pointer a string in hexadecimal, NULL is null, an enumeration and a set
 * of bits the text that a trace has for it, a string a string, a structure an object, an array an
 * array. What has a text of its own in a trace (a status of wait(2), a socket address, a bit
 * vector) is that text.
 *
 * The values of an object's parts follow it in the record (record.h), so types and values are
 * walked in step, as render_object.c does. A record is untrusted: a value that does not belong to
 * the type that is expected ends the walk, with null for what is missing.
 */
#include "sink/forms/json_value.h"

#include "sink/forms/json_text.h"
#include "sink/render/render_number.h"
#include "sink/render/render_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 200 };

/* The available bytes of an object. */
struct view {
	const unsigned char *bytes;
	size_t length;
	unsigned word; /* bytes of a pointer */
};

static void put_value(struct rendering *r, const struct type *type,
		      const struct record_value *value);
static void put_inside(struct rendering *r, const struct type *type, struct view view);

static struct view view_at(struct view view, size_t offset, size_t most)
{
	const size_t left = offset < view.length ? view.length - offset : 0;

	return (struct view){view.bytes + (left ? offset : 0), left < most ? left : most,
			     view.word};
}

/* Writes what `render` has put into r->out since `start` as a string. */
static void quote_since(struct outbuf *out, size_t start)
{
	const size_t length = out->length - start;
	char *copy = length ? strndup(out->text + start, length) : NULL;

	out->length = start;
	json_text_put(out, copy ? copy : "", length);
	free(copy);
}

static bool has_text(const struct type *type)
{
	return type->lens == LENS_ENUM || type->lens == LENS_BITSET || type->lens == LENS_STATUS ||
	       type->lens == LENS_FUNCTION || type->lens == LENS_BITVEC;
}

static void put_word(struct rendering *r, const struct type *type, uint64_t word, unsigned size)
{
	const unsigned unused = size && size < 8 ? 64 - 8 * size : 0;
	const size_t start = r->out->length;

	if (type->lens == LENS_BOOL) {
		outbuf_text(r->out, word << unused ? "true" : "false");
	} else if (has_text(type)) {
		render_word(r, type, word, size);
		quote_since(r->out, start);
	} else if (type->kind != TYPE_INT) {
		json_text_put_pointer(r->out, word << unused >> unused);
	} else if (type->is_signed || type->lens == LENS_GUESS) {
		json_text_put_signed(r->out, (int64_t)(word << unused) >> unused);
	} else {
		json_text_put_unsigned(r->out, word << unused >> unused);
	}
}

static void put_float(struct rendering *r, uint64_t word, unsigned size, const unsigned char *bytes)
{
	long double number;

	if (render_load_float(word, size, bytes, &number))
		json_text_put_real(r->out, (double)number);
	else
		outbuf_text(r->out, "null");
}

static uint64_t load(struct view view, unsigned size)
{
	uint64_t word = 0;

	/* A long double is longer than that; put_float() looks at its bytes. */
	if (size > sizeof word)
		size = sizeof word;
	memcpy(&word, view.bytes, size < view.length ? size : view.length);
	return word;
}

/* A part that is stored elsewhere: the next value of the record. */
static void put_apart(struct rendering *r, const struct type *type)
{
	const struct record_value *value = r->ended ? NULL : value_cursor_next(r->cursor);

	if (!value || value->argument != r->argument || r->levels > LEVELS_MAX) {
		outbuf_text(r->out, "null");
		r->ended = true;
		return;
	}
	r->levels++;
	put_value(r, type, value);
	r->levels--;
}

static void put_member(struct rendering *r, const struct type_member *member, struct view view)
{
	const bool wide = view.word == 8;
	const struct view at = view_at(view, member->offset[wide], SIZE_MAX);
	const unsigned size = type_size(member->type, view.word);

	if (!member->bits) {
		put_inside(r, member->type, at);
		return;
	}
	const unsigned unused = 64U - member->bits;
	uint64_t word = load(at, 8) >> member->shift[wide] << unused;

	word = member->type->is_signed ? (uint64_t)((int64_t)word >> unused) : word >> unused;
	put_word(r, member->type, word, size);
}

static void put_struct(struct rendering *r, const struct type *type, struct view view)
{
	const uint32_t count = type_size(type, view.word) ? type_shown_members(type) : 0;
	const char *before = "";
	char number[16];

	outbuf_char(r->out, '{');
	for (uint32_t i = 0; i < count && !r->ended; i++) {
		const struct type_member *member = &type->members[i];

		if (member->type->is_hidden)
			continue;
		if (member->offset[view.word == 8] >= view.length && !type_is_apart(member->type) &&
		    type_size(member->type, view.word))
			break;
		snprintf(number, sizeof number, "%u", i);
		outbuf_text(r->out, before);
		json_text_put_name(r->out, member->name ? member->name : number);
		outbuf_char(r->out, ':');
		put_member(r, member, view);
		before = ",";
	}
	outbuf_char(r->out, '}');
}

static void put_text(struct rendering *r, const struct type *type, struct view view)
{
	size_t length = view.length;

	if (type->length_from == STRING_CONSTANT || type->zero_ends ||
	    type->length_from == STRING_NUL)
		length = strnlen((const char *)view.bytes, view.length);
	json_text_put(r->out, view.bytes, length);
}

static void put_elements(struct rendering *r, const struct type *type, struct view view)
{
	const size_t size = type_storage(type->target, view.word);

	if (type->lens == LENS_TEXT && type_size(type->target, view.word) == 1) {
		put_text(r, type, view);
		return;
	}
	if (type->lens != LENS_DEFAULT) {
		const size_t start = r->out->length;

		render_inside(r, type, view.bytes, view.length, view.word);
		quote_since(r->out, start);
		return;
	}
	outbuf_char(r->out, '[');
	for (size_t at = 0; size && at < view.length && !r->ended; at += size) {
		outbuf_text(r->out, at ? "," : "");
		put_inside(r, type->target, view_at(view, at, size));
	}
	outbuf_char(r->out, ']');
}

static void put_inside(struct rendering *r, const struct type *type, struct view view)
{
	const unsigned size = type_size(type, view.word);
	const size_t start = r->out->length;

	if (type_is_apart(type)) {
		put_apart(r, type);
	} else if (type->kind == TYPE_STRUCT && (type->lens == LENS_BITVEC || type->is_wide)) {
		render_inside(r, type, view.bytes, view.length, view.word);
		quote_since(r->out, start);
	} else if (type->kind == TYPE_STRUCT) {
		put_struct(r, type, view);
	} else if (type->kind == TYPE_ARRAY) {
		put_elements(r, type, view_at(view, 0, size ? size : SIZE_MAX));
	} else if (size > view.length) {
		outbuf_text(r->out, "null");
	} else if (type->kind == TYPE_FLOAT) {
		put_float(r, load(view, size), size, view.bytes);
	} else {
		put_word(r, type, load(view, size), size);
	}
}

static void put_object(struct rendering *r, const struct type *type,
		       const struct record_value *value)
{
	const struct view view = {record_value_bytes(value), value->length, value->size};
	const struct type *object = type->kind == TYPE_POINTER ? type->target : type;

	if (!object || (view.word != 4 && view.word != 8)) {
		outbuf_text(r->out, "null");
		r->ended = true;
	} else if ((value->flags & VALUE_RECURSION) || (object != type && !value->word) ||
		   (!view.length && (value->flags & VALUE_FAULT))) {
		json_text_put_pointer(r->out, value->word);
	} else if (object->kind == TYPE_ARRAY) {
		put_elements(r, object, view);
	} else {
		put_inside(r, object, view);
	}
}

/* Returns how much of a string is shown: more may have been captured than -s allows. */
static size_t shown_length(const struct record_value *value, const struct render_options *options)
{
	const size_t most = options->string_max;

	return value->length < most ? value->length : most;
}

static void put_string(struct rendering *r, const struct record_value *value)
{
	if (!value->word || (!value->length && (value->flags & VALUE_FAULT)))
		json_text_put_pointer(r->out, value->word);
	else
		json_text_put(r->out, record_value_bytes(value), shown_length(value, r->options));
}

static void put_value(struct rendering *r, const struct type *type,
		      const struct record_value *value)
{
	if ((value->kind == VALUE_WORD || value->kind == VALUE_FLOAT) &&
	    (value->flags & VALUE_FAULT)) {
		outbuf_text(r->out, "null");
		return;
	}
	switch (value->kind) {
	case VALUE_WORD:
		put_word(r, type, value->word, value->size);
		break;
	case VALUE_FLOAT:
		put_float(r, value->word, value->size,
			  value->length >= 10 ? record_value_bytes(value) : NULL);
		break;
	case VALUE_STRING:
		put_string(r, value);
		break;
	case VALUE_OBJECT:
		put_object(r, type, value);
		break;
	default:
		outbuf_text(r->out, "null");
	}
}

/* ------------------------------------------------------------------ arguments */

/* Takes the next value if it is of this parameter. */
static const struct record_value *take_value(struct rendering *r)
{
	struct value_cursor next = *r->cursor;
	const struct record_value *value = value_cursor_next(&next);

	if (!value || value->argument != r->argument)
		return NULL;
	*r->cursor = next;
	return value;
}

struct json_values json_value_begin(struct outbuf *out, const struct prototype *prototype,
				    unsigned first, unsigned last, struct value_cursor *cursor,
				    const struct render_options *options)
{
	return (struct json_values){
		.rendering = {.out = out, .options = options, .cursor = cursor},
		.prototype = prototype,
		.index = first,
		.last = last < prototype->parameter_count ? last : prototype->parameter_count,
	};
}

/* The arguments of a printf format, up to the end mark. */
static bool next_of_format(struct json_values *values)
{
	static const struct type number = {.kind = TYPE_INT, .is_signed = true},
				 pointer = {.kind = TYPE_POINTER};
	const struct record_value *value = value_cursor_next(values->rendering.cursor);

	values->is_in_format = value && (value->flags & VALUE_VARARG);
	if (!values->is_in_format)
		return false;
	values->parameter = NULL;
	values->value = value;
	values->type = value->kind == VALUE_WORD && !strchr("psSn", value->conversion) ? &number
										       : &pointer;
	return true;
}

bool json_value_next(struct json_values *values)
{
	struct rendering *r = &values->rendering;

	if (values->is_in_format && next_of_format(values))
		return true;
	while (values->index < values->last && !r->ended) {
		r->argument = values->index;
		values->parameter = &values->prototype->parameters[values->index++];
		if (values->parameter->type->is_hidden)
			continue;
		values->type = render_passed_type(r, values->parameter, &values->selector);
		values->value = values->type ? take_value(r) : NULL;
		if (values->value)
			return true;
	}
	return false;
}

void json_value_put(struct json_values *values)
{
	put_value(&values->rendering, values->type, values->value);
	if (values->parameter)
		values->is_in_format = values->type->kind == TYPE_FORMAT;
}

bool json_value_is_cut(const struct record_value *value, const struct render_options *options)
{
	return (value->flags & VALUE_TRUNCATED) ||
	       (value->kind == VALUE_STRING && shown_length(value, options) < value->length);
}

void json_value_put_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
			      unsigned last, struct value_cursor *cursor,
			      const struct render_options *options, bool *any)
{
	struct json_values values = json_value_begin(out, prototype, first, last, cursor, options);

	while (json_value_next(&values)) {
		const struct record_value *value = values.value;

		outbuf_text(out, *any ? ",{" : "{");
		*any = true;
		if (values.parameter && values.parameter->name) {
			outbuf_text(out, "\"name\":");
			json_text_put_name(out, values.parameter->name);
			outbuf_char(out, ',');
		}
		outbuf_text(out, "\"value\":");
		json_value_put(&values);
		if (json_value_is_cut(value, options))
			outbuf_text(out, ",\"cut\":true");
		outbuf_char(out, '}');
	}
}

bool json_value_put_result(struct outbuf *out, const struct prototype *prototype,
			   struct value_cursor *cursor, const struct render_options *options)
{
	struct rendering r = {
		.out = out, .options = options, .cursor = cursor, .argument = VALUE_RESULT};
	const struct type *type = prototype->result;
	const struct record_value *value;

	if (prototype->is_unknown || type->kind == TYPE_VOID || type->is_hidden)
		return false;
	value = value_cursor_next(cursor);
	if (!value || value->argument != VALUE_RESULT)
		return false;
	outbuf_text(out, ",\"result\":");
	put_value(&r, type, value);
	return true;
}
