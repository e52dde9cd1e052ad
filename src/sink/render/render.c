/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders values as text. The prototype says which values to expect, the record has them. Both are
 * walked in step, in the order in which the capture plan made the values (proto/plan.h): at entry
 * the parameters before the first '+', at return the result and then the other parameters. A printf
 * format is followed by a value for each of its conversions and an end mark, an object by what it
 * points to (render_object.c).
 *
 * A record is untrusted: it may come from a ring that the tracee can write, or from a file. So its
 * lengths and counts are limited by its size, and the kind of a value (word, float, string) decides
 * how it is rendered; the type only chooses among the forms of that kind. If a value does not
 * belong to the parameter that the prototype expects, record and prototype do not match: a `?` is
 * written, and nothing behind it.
 *
 * The output is ltrace's, with these differences: a double quote within a string is escaped; NULL
 * pointers are "nil", whether they point to characters or not; a floating-point number has more
 * than six digits behind the point where it needs them (1e-10, not 0.000000), and with 18 or more
 * digits before the point it is shown as 1.000000e+100.
 */
#include "sink/render/render_number.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sink/render/escape.h"
#include "sink/render/render_object.h"

struct value_cursor value_cursor_start(const struct record *record)
{
	const unsigned char *start = (const unsigned char *)record;

	if (record->size < sizeof *record)
		return (struct value_cursor){.at = start, .end = start};
	return (struct value_cursor){
		.at = start + sizeof *record,
		.end = start + record->size,
		.left = record->value_count,
		.pid = record->pid,
	};
}

const struct record_value *value_cursor_next(struct value_cursor *cursor)
{
	const struct record_value *value = (const void *)cursor->at;
	size_t room = (size_t)(cursor->end - cursor->at);

	if (!cursor->left || room < sizeof *value || room - sizeof *value < value->length) {
		cursor->left = 0;
		return NULL;
	}
	size_t padded = sizeof *value + (((size_t)value->length + 7) & ~(size_t)7);

	cursor->at += padded < room ? padded : room;
	cursor->left--;
	return value;
}

unsigned render_entry_count(const struct prototype *prototype)
{
	unsigned i = 0;

	while (i < prototype->parameter_count && !prototype->parameters[i].on_return)
		i++;
	return i;
}

static void render_string(struct rendering *r, const struct record_value *value)
{
	unsigned string_max = r->options->string_max;
	unsigned length = value->length < string_max ? value->length : string_max;
	bool is_cut = length < value->length || (value->flags & (VALUE_FAULT | VALUE_TRUNCATED));

	if (!value->word || (!value->length && (value->flags & VALUE_FAULT)))
		render_pointer(r->out, value->word);
	else
		render_text(r->out, record_value_bytes(value), length, 1, is_cut, r->options->utf8);
}

/* Writes the name of the function that a pointer leads to. Returns false if it has none. */
static bool put_function(struct rendering *r, uint64_t address)
{
	const struct code_names *code = r->options->code;
	_cleanup_free_ char *name = code && address
					    ? code->find(code->context, r->cursor->pid, address)
					    : NULL;

	if (name)
		escape_name(r->out, name);
	return name != NULL;
}

void render_word(struct rendering *r, const struct type *type, uint64_t word, unsigned size)
{
	if (type->kind != TYPE_POINTER ||
	    (type->lens != LENS_FUNCTION && type->lens != LENS_ENUM)) {
		render_bits(r->out, type, word, size, r->options->utf8);
		return;
	}
	if (size == sizeof(uint32_t))
		word = (uint32_t)word;
	if (type->lens == LENS_ENUM && render_value_name(r->out, type, word, size))
		return;
	if (!put_function(r, word))
		render_pointer(r->out, word);
}

void render_typed(struct rendering *r, const struct type *type, const struct record_value *value)
{
	if ((value->kind == VALUE_WORD || value->kind == VALUE_FLOAT) &&
	    (value->flags & VALUE_FAULT)) {
		outbuf_char(r->out, '?');
		return;
	}
	switch (value->kind) {
	case VALUE_WORD:
		render_word(r, type, value->word, value->size);
		break;
	case VALUE_FLOAT:
		render_float(r->out, type, value->word, value->size,
			     value->length >= 10 ? record_value_bytes(value) : NULL);
		break;
	case VALUE_STRING:
		render_string(r, value);
		break;
	case VALUE_OBJECT:
		render_object(r, type, value);
		break;
	default:
		outbuf_char(r->out, '?');
	}
}

/*
 * Returns the type for a printf conversion. Its width does not matter, because the value has a
 * size.
 */
static struct type conversion_type(char conversion)
{
	static const struct type wide = {.kind = TYPE_INT, .width = WIDTH_INT};
	static const struct type text = {.kind = TYPE_ARRAY, .lens = LENS_TEXT, .target = &wide};

	switch (conversion) {
	case 'd':
	case 'i':
		return (struct type){.kind = TYPE_INT, .is_signed = true};
	case 'c':
		return (struct type){.kind = TYPE_INT, .lens = LENS_CHAR};
	case 'o':
		return (struct type){.kind = TYPE_INT, .lens = LENS_OCT};
	case 'x':
	case 'X':
		return (struct type){.kind = TYPE_INT, .lens = LENS_HEX};
	case 'b':
	case 'B':
		return (struct type){.kind = TYPE_INT, .lens = LENS_BIN};
	case 'S':
		return (struct type){.kind = TYPE_POINTER, .target = &text};
	case 's':
	case 'p':
	case 'n':
		return (struct type){.kind = TYPE_POINTER};
	default:
		return (struct type){.kind = TYPE_INT};
	}
}

/* Skips the values that follow a format string; they are shown behind the other parameters. */
static void defer_varargs(struct rendering *r)
{
	struct value_cursor next = *r->cursor;
	const struct record_value *value;

	r->has_deferred = true;
	r->deferred = *r->cursor;
	while ((value = value_cursor_next(&next)) &&
	       (value->flags & (VALUE_VARARG | VALUE_FORMAT_END))) {
		*r->cursor = next;
		if (value->flags & VALUE_FORMAT_END)
			break;
	}
}

/* Renders the values that follow a format string, up to the end mark. */
static void render_varargs(struct rendering *r)
{
	for (;;) {
		const struct record_value *value = value_cursor_next(r->cursor);

		if (value && (value->flags & VALUE_FORMAT_END)) {
			if (value->flags & VALUE_TRUNCATED)
				outbuf_text(r->out, ", ...");
			return;
		}
		outbuf_text(r->out, ", ");
		if (!value || !(value->flags & VALUE_VARARG)) {
			outbuf_char(r->out, '?');
			r->ended = true;
			return;
		}
		struct type type = conversion_type(value->conversion);

		render_typed(r, &type, value);
	}
}

static void render_argument(struct rendering *r, const struct parameter *parameter,
			    const struct type *type)
{
	const struct record_value *value = value_cursor_next(r->cursor);

	if (r->options->names && parameter->name) {
		escape_name(r->out, parameter->name);
		outbuf_char(r->out, '=');
	}
	if (!value || value->argument != r->argument) {
		outbuf_char(r->out, '?');
		r->ended = true;
		return;
	}
	const bool is_format = type->kind == TYPE_FORMAT;
	const struct type wide = conversion_type('S');

	render_typed(r, is_format && type->is_wide ? &wide : type, value);
	if (is_format)
		defer_varargs(r);
}

/* Skips the values of an argument that was not passed. */
static void skip_argument(struct rendering *r)
{
	struct value_cursor next = *r->cursor;
	const struct record_value *value;

	while ((value = value_cursor_next(&next)) && value->argument == r->argument)
		*r->cursor = next;
}

/* Returns the next value if it is this parameter's integer, or 0. */
static uint64_t bits_of_next(const struct rendering *r)
{
	struct value_cursor next = *r->cursor;
	const struct record_value *value = value_cursor_next(&next);

	return value && value->argument == r->argument && value->kind == VALUE_WORD ? value->word
										    : 0;
}

/* Returns the type of the choice that was captured, which the first value says; or NULL. */
static const struct type *chosen_type(struct rendering *r, const struct parameter *parameter)
{
	struct value_cursor next = *r->cursor;
	const struct record_value *value = value_cursor_next(&next);

	if (!value || value->argument == VALUE_RESULT ||
	    (value->argument & VALUE_INDEX) != r->argument)
		return NULL;
	const unsigned choice = value->argument >> VALUE_CHOICE_SHIFT;

	r->argument = value->argument;
	return choice < parameter->choice_count ? parameter->choices[choice].type : NULL;
}

const struct type *render_passed_type(struct rendering *r, const struct parameter *parameter,
				      uint64_t *selector)
{
	const struct type *type = parameter->choices ? chosen_type(r, parameter) : parameter->type;

	if (type && parameter->only_with && !(*selector & parameter->only_with)) {
		skip_argument(r);
		return NULL;
	}
	if (!parameter->only_with && !parameter->choices)
		*selector = bits_of_next(r);
	return type;
}

char *render_caller(const struct code_names *code, const struct record *record)
{
	return code && record->pc ? code->place(code->context, record->pid, record->pc) : NULL;
}

/* Returns true if a parameter in front of `first` is shown. */
static bool has_shown(const struct prototype *prototype, unsigned first)
{
	for (unsigned i = 0; i < first && i < prototype->parameter_count; i++)
		if (!prototype->parameters[i].type->is_hidden)
			return true;
	return false;
}

void render_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
		      unsigned last, struct value_cursor *cursor,
		      const struct render_options *options)
{
	struct rendering r = {.out = out, .options = options, .cursor = cursor};
	bool any = has_shown(prototype, first);
	uint64_t selector = 0;

	for (unsigned i = first; i < last && i < prototype->parameter_count && !r.ended; i++) {
		const struct parameter *parameter = &prototype->parameters[i];

		r.argument = i;
		if (i < 32 && (options->unknown >> i & 1)) {
			outbuf_text(out, any ? ", ..." : "...");
			any = true;
			continue;
		}
		if (parameter->type->is_hidden)
			continue;
		const struct type *type = render_passed_type(&r, parameter, &selector);

		if (!type)
			continue;
		if (any)
			outbuf_text(out, ", ");
		any = true;
		render_argument(&r, parameter, type);
	}
	if (r.has_deferred) {
		r.cursor = &r.deferred;
		r.ended = false;
		render_varargs(&r);
	}
}

void render_result(struct outbuf *out, const struct prototype *prototype,
		   struct value_cursor *cursor, const struct render_options *options)
{
	struct rendering r = {
		.out = out, .options = options, .cursor = cursor, .argument = VALUE_RESULT};
	const struct record_value *value;

	if (prototype->is_unknown) {
		outbuf_char(out, '?');
		return;
	}
	if (prototype->result->kind == TYPE_VOID || prototype->result->is_hidden) {
		outbuf_text(out, prototype->result->is_hidden ? "<hidden>" : "<void>");
		return;
	}
	value = value_cursor_next(cursor);
	if (value && value->argument == VALUE_RESULT)
		render_typed(&r, prototype->result, value);
	else
		outbuf_char(out, '?');
}

void render_skip_result(const struct prototype *prototype, struct value_cursor *cursor)
{
	struct value_cursor next = *cursor;
	const struct record_value *value;

	if (prototype->result->kind == TYPE_VOID || prototype->result->is_hidden)
		return;
	/* The first value belongs to the result, whatever it says. */
	value_cursor_next(&next);
	do {
		*cursor = next;
		value = value_cursor_next(&next);
	} while (value && value->argument == VALUE_RESULT);
}

static void put_plain(struct outbuf *out, const struct record_value *value)
{
	_cleanup_free_ char *text = NULL;

	if (value && value->kind == VALUE_STRING)
		text = xstrndup(record_value_bytes(value), value->length);
	escape_name(out, text);
}

void render_untraced(struct outbuf *out, const struct record *record)
{
	struct value_cursor cursor = value_cursor_start(record);

	outbuf_text(out, "!!! not traced: ");
	put_plain(out, value_cursor_next(&cursor));
	outbuf_text(out, ": ");
	put_plain(out, value_cursor_next(&cursor));
	outbuf_text(out, " !!!");
}
