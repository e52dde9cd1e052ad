/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses types of text in .conf files:
 *
 *   string                string [ "[" extent "]" | "(" type ")" ] | stringN (string[argN])
 *   format                format [ "[" extent "]" | "(" type ")" ]
 *
 * string(TYPE) is one of these, depending on TYPE:
 *
 *   pointer to char, or to an array of char   TYPE_STRING
 *   array of integers                         the array with LENS_TEXT, within a struct
 *   pointer to wider integers, or an array    a pointer to an array with LENS_TEXT
 *   integer                                   a character
 *   anything else                             TYPE itself, like in ltrace
 *
 * A pointer to characters could always be a pointer to an array with LENS_TEXT. TYPE_STRING can do
 * less, but nearly all prototypes use it, so the capture executor has a fast path for it.
 *
 * format(TYPE) is a format of wprintf(3) if string(TYPE) is text of wide characters. A format ends
 * at a NUL, whatever length it is given: printf(3) knows no other end.
 */
#include "proto/conf_string.h"

#include "proto/conf.h"
#include "proto/conf_extent.h"
#include "proto/conf_type.h"

#include <stddef.h>

enum { WIDE_CHARACTER = 4 }; /* bytes of a wchar_t */

static const struct type *text_of(struct conf_parser *parser, const struct type *array)
{
	struct type text = *array;

	text.lens = LENS_TEXT;
	return conf_own(parser, &text);
}

static const struct type *character_of(struct conf_parser *parser, const struct type *integer)
{
	struct type character = type_with_lens(integer, LENS_CHAR);

	return conf_own(parser, &character);
}

/* Makes an array of integers that ends at a 0. */
static const struct type *characters_at(struct conf_parser *parser, const struct type *integer)
{
	struct type array = {.kind = TYPE_ARRAY, .target = integer};

	type_complete(&array);
	return conf_own(parser, &array);
}

/* Makes the type that string(TYPE) is. Returns NULL if objects of TYPE have no size. */
static const struct type *make_string(struct conf_parser *parser, const struct type *type)
{
	const struct type *target = type->target;

	if (type->kind == TYPE_VOID || type->kind == TYPE_FORMAT ||
	    (type->kind == TYPE_STRUCT && !type->is_defined))
		return NULL;
	if (type->kind == TYPE_INT)
		return character_of(parser, type);
	if (type->kind == TYPE_ARRAY && target->kind == TYPE_INT)
		return text_of(parser, type);
	if (type->kind != TYPE_POINTER || !target)
		return type;
	if (target->kind == TYPE_INT)
		target = characters_at(parser, target);
	if (target->kind != TYPE_ARRAY || target->target->kind != TYPE_INT)
		return type;
	return conf_decay(parser, text_of(parser, target));
}

/* `string` was taken. */
const struct type *conf_parse_string(struct conf_parser *parser)
{
	struct type type = {.kind = TYPE_STRING};

	if (conf_at_mark(parser, '(')) {
		conf_take(parser);
		const struct conf_token inner = parser->token;
		const struct type *made = conf_parse_type(parser);

		if (!made || !conf_expect(parser, ')'))
			return NULL;
		made = make_string(parser, made);
		if (!made)
			conf_fail_at(parser, &inner, "a type of objects of known size");
		return made;
	}
	if (conf_at_mark(parser, '[')) {
		conf_take(parser);
		if (!conf_parse_extent(parser, &type) || !conf_expect(parser, ']'))
			return NULL;
	}
	type_complete(&type);
	return conf_own(parser, &type);
}

const struct type *conf_parse_numbered_string(struct conf_parser *parser, uint32_t number)
{
	struct type type = {.kind = TYPE_STRING};

	conf_take(parser);
	conf_set_argument(&type, number);
	type_complete(&type);
	return conf_own(parser, &type);
}

/* Returns true for a pointer to wide characters. */
static bool is_wide(const struct type *string)
{
	const struct type *target = string->kind == TYPE_POINTER ? string->target : NULL;

	return target && target->kind == TYPE_ARRAY && target->lens == LENS_TEXT &&
	       type_size(target->target, sizeof(uint64_t)) == WIDE_CHARACTER;
}

const struct type *conf_parse_format(struct conf_parser *parser)
{
	const struct conf_token inner = parser->token;
	const struct type *string = conf_parse_string(parser);
	struct type type = {.kind = TYPE_FORMAT};

	if (!string)
		return NULL;
	type.is_wide = is_wide(string);
	if (string->kind != TYPE_STRING && !type.is_wide) {
		conf_fail_at(parser, &inner, "a string of char or wchar_t for a format");
		return NULL;
	}
	return conf_own(parser, &type);
}
