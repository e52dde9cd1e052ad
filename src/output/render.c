/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values as text. The prototype says what is to come, the record brings it; both are walked in step,
 * in the order the capture plan made the values (proto/plan.h): at entry the parameters before the
 * first '+', at return the result and then the rest. A printf format is followed by a value for each
 * of its conversions and an end mark.
 *
 * A record is foreign bytes: it may come from a ring that the tracee can write, or from a file. So
 * its lengths and counts are believed only as far as its size goes, and a value is rendered by what it
 * is (word, float, string); the type only chooses among the ways to show that. A value that is not of
 * the parameter the prototype is at means that the two do not belong together: a `?` stands for what
 * can not be told and nothing behind it is guessed.
 *
 * The looks are ltrace's, with these differences: a double quote within a string is escaped; pointers
 * that are NULL read nil, whether they point to characters or not; a floating-point number of 18 or
 * more digits before the point is shown as 1.000000e+100.
 */
#include "output/render.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "output/escape.h"

#include <math.h>
#include <stdio.h>

/* Unknown values up to this far from zero are taken for numbers, others for addresses. */
enum { GUESS_DECIMAL_MAX = 10000 };

struct value_cursor value_cursor_start(const struct record *record)
{
	const unsigned char *start = (const unsigned char *)record;

	if (record->size < sizeof *record)
		return (struct value_cursor){.at = start, .end = start};
	return (struct value_cursor){
		.at = start + sizeof *record,
		.end = start + record->size,
		.left = record->value_count,
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

/* The bits that belong to the C object. */
static uint64_t object_bits(const struct record_value *value)
{
	unsigned bits = 8U * value->size;

	return bits && bits < 64 ? value->word & ((1ULL << bits) - 1) : value->word;
}

static int64_t object_signed(const struct record_value *value)
{
	uint64_t bits = object_bits(value);
	unsigned unused = value->size && value->size < 8 ? 64 - 8U * value->size : 0;

	return (int64_t)(bits << unused) >> unused;
}

static void render_pointer(struct outbuf *out, uint64_t pointer)
{
	if (pointer)
		outbuf_hex(out, pointer);
	else
		outbuf_text(out, "nil");
}

static void render_decimal(struct outbuf *out, const struct record_value *value, bool is_signed)
{
	if (is_signed)
		outbuf_signed(out, object_signed(value));
	else
		outbuf_unsigned(out, object_bits(value), 1, ' ');
}

static void render_guess(struct outbuf *out, const struct record_value *value, bool is_signed)
{
	uint64_t bits = object_bits(value);
	int64_t number = object_signed(value);

	if (bits <= GUESS_DECIMAL_MAX || (is_signed && number < 0 && number >= -GUESS_DECIMAL_MAX))
		render_decimal(out, value, is_signed);
	else
		outbuf_hex(out, bits);
}

/* A character, unless the object is wider and holds none. */
static void render_character(struct outbuf *out, const struct record_value *value)
{
	int64_t number = object_signed(value);

	if (number >= INT8_MIN && number <= UINT8_MAX)
		escape_char(out, (unsigned char)number);
	else
		outbuf_signed(out, number);
}

static void render_integer(struct outbuf *out, const struct type *type,
			   const struct record_value *value)
{
	switch (type->lens) {
	case LENS_CHAR:
		render_character(out, value);
		break;
	case LENS_OCT:
		outbuf_octal(out, object_bits(value));
		break;
	case LENS_HEX:
		outbuf_hex(out, object_bits(value));
		break;
	case LENS_GUESS:
		render_guess(out, value, type->is_signed);
		break;
	default:
		render_decimal(out, value, type->is_signed);
	}
}

static void render_word(struct outbuf *out, const struct type *type,
			const struct record_value *value)
{
	switch (type->kind) {
	case TYPE_INT:
		render_integer(out, type, value);
		break;
	case TYPE_POINTER:
	case TYPE_STRING:
	case TYPE_FORMAT:
		render_pointer(out, object_bits(value));
		break;
	default:
		outbuf_hex(out, object_bits(value));
	}
}

/*
 * The 80-bit format taken apart by hand, so that it reads the same whatever long double is
 * here.
 */
static long double x87_number(const unsigned char *bytes)
{
	uint64_t mantissa = 0;
	unsigned exponent = bytes[8] | (bytes[9] & 0x7fU) << 8;

	for (int i = 7; i >= 0; i--)
		mantissa = mantissa << 8 | bytes[i];
	long double number = exponent == 0x7fff
				     ? (mantissa << 1 ? NAN : INFINITY)
				     : ldexpl((long double)mantissa, (int)exponent - 16383 - 63);

	return bytes[9] & 0x80 ? -number : number;
}

static void render_float(struct outbuf *out, const struct record_value *value)
{
	long double number = 0;
	char text[64];
	float single;
	double twice;

	if (value->size == sizeof single) {
		uint32_t bits = (uint32_t)value->word;

		memcpy(&single, &bits, sizeof single);
		number = single;
	} else if (value->size == sizeof twice) {
		memcpy(&twice, &value->word, sizeof twice);
		number = twice;
	} else if (value->length >= 10) {
		number = x87_number(record_value_bytes(value));
	} else {
		outbuf_char(out, '?');
		return;
	}
	bool is_long = number >= 1e18L || number <= -1e18L;

	snprintf(text, sizeof text, is_long ? "%Le" : "%Lf", number);
	outbuf_text(out, text);
}

static void render_string(struct outbuf *out, const struct record_value *value, unsigned string_max)
{
	unsigned length = value->length < string_max ? value->length : string_max;
	bool is_cut = length < value->length || (value->flags & (VALUE_FAULT | VALUE_TRUNCATED));

	if (!value->word || (!value->length && (value->flags & VALUE_FAULT))) {
		render_pointer(out, value->word);
		return;
	}
	outbuf_char(out, '"');
	escape_bytes(out, record_value_bytes(value), length);
	outbuf_text(out, is_cut ? "\"..." : "\"");
}

void render_value(struct outbuf *out, const struct type *type, const struct record_value *value,
		  unsigned string_max)
{
	switch (value->kind) {
	case VALUE_WORD:
		render_word(out, type, value);
		break;
	case VALUE_FLOAT:
		render_float(out, value);
		break;
	case VALUE_STRING:
		render_string(out, value, string_max);
		break;
	default:
		outbuf_char(out, '?');
	}
}

/*
 * The type that a printf conversion stands for. The width does not matter: the value has a
 * size.
 */
static struct type conversion_type(char conversion)
{
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
	case 's':
	case 'p':
	case 'n':
		return (struct type){.kind = TYPE_POINTER};
	default:
		return (struct type){.kind = TYPE_INT};
	}
}

/* What follows a format string, up to its end mark; false when the record ends before. */
static bool render_varargs(struct outbuf *out, struct value_cursor *cursor, unsigned string_max)
{
	for (;;) {
		const struct record_value *value = value_cursor_next(cursor);

		if (value && (value->flags & VALUE_FORMAT_END))
			return true;
		outbuf_text(out, ", ");
		if (!value || !(value->flags & VALUE_VARARG)) {
			outbuf_char(out, '?');
			return false;
		}
		struct type type = conversion_type(value->conversion);

		render_value(out, &type, value, string_max);
	}
}

void render_arguments(struct outbuf *out, const struct prototype *prototype, unsigned first,
		      unsigned last, struct value_cursor *cursor, unsigned string_max)
{
	for (unsigned i = first; i < last && i < prototype->parameter_count; i++) {
		const struct type *type = prototype->parameters[i].type;
		const struct record_value *value = value_cursor_next(cursor);

		if (i > 0)
			outbuf_text(out, ", ");
		if (!value || value->argument != i) {
			outbuf_char(out, '?');
			return;
		}
		render_value(out, type, value, string_max);
		if (type->kind == TYPE_FORMAT && !render_varargs(out, cursor, string_max))
			return;
	}
}

void render_result(struct outbuf *out, const struct prototype *prototype,
		   struct value_cursor *cursor, unsigned string_max)
{
	const struct record_value *value;

	if (prototype->result->kind == TYPE_VOID) {
		outbuf_text(out, "<void>");
		return;
	}
	value = value_cursor_next(cursor);
	if (value && value->argument == VALUE_RESULT)
		render_value(out, prototype->result, value, string_max);
	else
		outbuf_char(out, '?');
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
