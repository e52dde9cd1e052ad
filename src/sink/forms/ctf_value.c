/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments and results as fields of CTF. The type of a field is declared once, from the prototype:
 * integers are integers of 64 bits with the base that a trace shows them in, floating-point numbers
 * are doubles, strings are strings. What has a text of its own in a trace (structures, arrays,
 * enumerations, sets of bits, formats with their arguments) is a string with that text, and so is
 * what not every call has.
 *
 * A record may have what its field cannot express: a number that could not be read, or, if it is
 * damaged, values of another kind. Then the event is written in a common class instead, as text.
 *
 * A string of CTF ends with a NUL and is UTF-8. Bytes that are not are written as in JSON
 * (json_text.c).
 */
#include "sink/forms/ctf_value.h"

#include "base/vec.h"
#include "sink/forms/json_text.h"
#include "sink/render/escape.h"
#include "sink/render/render_number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SHOWN = 200 };

enum form {
	FORM_SIGNED,
	FORM_UNSIGNED,
	FORM_BIN,
	FORM_OCT,
	FORM_HEX,
	FORM_REAL,
	FORM_STRING,
	FORM_TEXT
};

static const char *const type_names[] = {
	[FORM_SIGNED] = "int64_t", [FORM_UNSIGNED] = "uint64_t", [FORM_BIN] = "bin_t",
	[FORM_OCT] = "oct_t",	   [FORM_HEX] = "hex_t",	 [FORM_REAL] = "real_t",
	[FORM_STRING] = "string",  [FORM_TEXT] = "string",
};

/* ------------------------------------------------------------------ forms */

static enum form form_of_integer(const struct type *type)
{
	switch (type->lens) {
	case LENS_DEFAULT:
		return type->is_signed ? FORM_SIGNED : FORM_UNSIGNED;
	case LENS_GUESS:
		return FORM_SIGNED;
	case LENS_BIN:
		return FORM_BIN;
	case LENS_OCT:
		return FORM_OCT;
	case LENS_HEX:
		return FORM_HEX;
	default:
		return FORM_TEXT;
	}
}

static enum form form_of(const struct type *type)
{
	switch (type->kind) {
	case TYPE_INT:
		return form_of_integer(type);
	case TYPE_FLOAT:
		return FORM_REAL;
	case TYPE_POINTER:
		return type->target || type->lens != LENS_DEFAULT ? FORM_TEXT : FORM_HEX;
	case TYPE_STRING:
		return type->lens == LENS_DEFAULT ? FORM_STRING : FORM_TEXT;
	default:
		return FORM_TEXT;
	}
}

static enum form form_of_parameter(const struct parameter *parameter)
{
	return parameter->choices || parameter->only_with ? FORM_TEXT : form_of(parameter->type);
}

static bool has_result(const struct prototype *prototype)
{
	return !prototype->is_unknown && prototype->result->kind != TYPE_VOID &&
	       !prototype->result->is_hidden;
}

struct ctf_values ctf_values_of(const struct prototype *prototype, enum ctf_phase phase)
{
	const unsigned count = prototype->is_unknown ? 0 : prototype->parameter_count;
	const unsigned at_entry = prototype->is_unknown ? 0 : render_entry_count(prototype);

	return (struct ctf_values){.first = phase == PHASE_RETURN ? at_entry : 0,
				   .last = phase == PHASE_ENTRY ? at_entry : count,
				   .has_result = phase != PHASE_ENTRY && has_result(prototype)};
}

/* ------------------------------------------------------------------ declarations */

static bool is_taken(const struct vec *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(*(char **)vec_at(names, i), name))
			return true;
	return false;
}

/* Makes a name that no other field of the event has, and keeps it in `names`. */
static const char *make_name(struct vec *names, const char *name, unsigned number)
{
	struct strbuf text = {0};

	strbuf_add_char(&text, '_');
	for (size_t i = 0; name && name[i] && i < NAME_MAX_SHOWN; i++) {
		const bool is_plain = isascii((unsigned char)name[i]) &&
				      isalnum((unsigned char)name[i]);

		strbuf_add_char(&text, is_plain ? name[i] : '_');
	}
	if (!name || !*name)
		strbuf_printf(&text, "arg%u", number);
	while (is_taken(names, text.text))
		strbuf_add_char(&text, '_');
	vec_push(names, &text.text);
	return text.text;
}

void ctf_values_declare(struct ctf_metadata *metadata, const struct prototype *prototype,
			struct ctf_values values)
{
	struct vec names = VEC_OF(char *);

	if (values.has_result)
		make_name(&names, "result", 0);
	for (unsigned i = values.first; i < values.last; i++) {
		const struct parameter *parameter = &prototype->parameters[i];

		if (!parameter->type->is_hidden)
			ctf_metadata_field(metadata, type_names[form_of_parameter(parameter)],
					   make_name(&names, parameter->name, i + 1));
	}
	if (values.has_result)
		ctf_metadata_field(metadata, type_names[form_of(prototype->result)], "_result");
	for (size_t i = 0; i < names.count; i++)
		free(*(char **)vec_at(&names, i));
	vec_deinit(&names);
}

/* ------------------------------------------------------------------ values */

void ctf_value_end_text(struct outbuf *out)
{
	outbuf_char(out, '\0');
}

void ctf_value_put_text(struct outbuf *out, const char *text)
{
	if (text)
		json_text_put_plain(out, text, strlen(text));
	ctf_value_end_text(out);
}

static void put_string(struct rendering *r, const struct record_value *value)
{
	const unsigned most = r->options->string_max;
	const char *bytes = record_value_bytes(value);
	size_t length = value->length < most ? value->length : most;
	const bool is_cut = length < value->length ||
			    (value->flags & (VALUE_FAULT | VALUE_TRUNCATED));

	if (!value->word || (!value->length && (value->flags & VALUE_FAULT))) {
		render_pointer(r->out, value->word);
	} else {
		length -= is_cut ? escape_unfinished(bytes, length, 1) : 0;
		json_text_put_plain(r->out, bytes, length);
		outbuf_text(r->out, is_cut ? "..." : "");
	}
	ctf_value_end_text(r->out);
}

static bool put_number(struct rendering *r, enum form form, const struct record_value *value)
{
	const unsigned unused = value->size && value->size < 8 ? 64 - 8 * value->size : 0;
	const uint64_t word = value->word << unused;

	if (value->kind != VALUE_WORD || (value->flags & VALUE_FAULT))
		return false;
	ctf_put_64(r->out,
		   form == FORM_SIGNED ? (uint64_t)((int64_t)word >> unused) : word >> unused);
	return true;
}

static bool put_real(struct rendering *r, const struct record_value *value)
{
	long double number;
	double real;
	uint64_t bits;

	if (value->kind != VALUE_FLOAT || (value->flags & VALUE_FAULT) ||
	    !render_load_float(value->word, value->size,
			       value->length >= 10 ? record_value_bytes(value) : NULL, &number))
		return false;
	real = (double)number;
	memcpy(&bits, &real, sizeof bits);
	ctf_put_64(r->out, bits);
	return true;
}

static bool put_value(struct rendering *r, enum form form, const struct type *type,
		      const struct record_value *value)
{
	switch (form) {
	case FORM_REAL:
		return put_real(r, value);
	case FORM_STRING:
		if (value->kind != VALUE_STRING)
			return false;
		put_string(r, value);
		return true;
	case FORM_TEXT:
		render_typed(r, type, value);
		ctf_value_end_text(r->out);
		return !r->ended;
	default:
		return put_number(r, form, value);
	}
}

/* ------------------------------------------------------------------ arguments */

/* A format with the arguments that it asks for, as in a trace. */
static bool put_format(struct rendering *r, const struct prototype *prototype, unsigned index)
{
	const size_t start = r->out->length;

	render_arguments(r->out, prototype, index, index + 1, r->cursor, r->options);
	/* What it puts between arguments, in front of all but the first. */
	if (r->out->length - start >= 2 && !memcmp(r->out->text + start, ", ", 2)) {
		memmove(r->out->text + start, r->out->text + start + 2, r->out->length - start - 2);
		r->out->length -= 2;
	}
	ctf_value_end_text(r->out);
	return true;
}

static bool put_parameter(struct rendering *r, const struct prototype *prototype, unsigned index,
			  uint64_t *selector)
{
	const struct parameter *parameter = &prototype->parameters[index];

	r->argument = index;
	const struct type *type = render_passed_type(r, parameter, selector);

	if (!type) {
		ctf_value_end_text(r->out);
		return true;
	}
	if (type->kind == TYPE_FORMAT)
		return put_format(r, prototype, index);
	const struct record_value *value = value_cursor_next(r->cursor);

	return value && value->argument == r->argument &&
	       put_value(r, form_of_parameter(parameter), type, value);
}

bool ctf_values_put(struct outbuf *out, const struct prototype *prototype, unsigned first,
		    unsigned last, struct value_cursor *cursor,
		    const struct render_options *options)
{
	struct rendering r = {.out = out, .options = options, .cursor = cursor};
	uint64_t selector = 0;

	for (unsigned i = first; i < last; i++)
		if (!prototype->parameters[i].type->is_hidden &&
		    !put_parameter(&r, prototype, i, &selector))
			return false;
	return true;
}

bool ctf_values_put_result(struct outbuf *out, const struct prototype *prototype,
			   struct value_cursor *cursor, const struct render_options *options)
{
	struct rendering r = {
		.out = out, .options = options, .cursor = cursor, .argument = VALUE_RESULT};
	const struct record_value *value = value_cursor_next(cursor);

	return value && value->argument == VALUE_RESULT &&
	       put_value(&r, form_of(prototype->result), prototype->result, value);
}

void ctf_values_put_failure(struct outbuf *out, const struct prototype *prototype)
{
	switch (form_of(prototype->result)) {
	case FORM_STRING:
	case FORM_TEXT:
		ctf_value_put_text(out, "-1");
		break;
	default:
		ctf_put_64(out, UINT64_MAX);
		break;
	}
}
