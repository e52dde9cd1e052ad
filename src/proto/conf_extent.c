/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the lengths of strings, arrays and similar types in .conf files:
 *
 *   extent                length | zero | zero "(" extent ")"
 *   length                bound | retval, which is arg0 | retval "*" argN | retval "(" bound ")" |
 *                         success, of an array
 *   bound                 NUMBER | argN | argN "*" argN | eltN
 *
 * The bound in parentheses is a maximum: zero(arg2) ends at a zero, but not later than arg2 says;
 * retval(arg2) ends where the result says, but not later than arg2 says. `success` is one element
 * if the result is not negative, else none.
 */
#include "proto/conf_extent.h"

#include "proto/conf.h"
#include "proto/conf_type.h"

#include <string.h>

bool conf_numbered(const struct conf_token *token, const char *prefix, uint32_t most,
		   uint32_t *number)
{
	size_t length = strlen(prefix);

	if (token->kind != TOKEN_NAME || token->length <= length ||
	    memcmp(token->text, prefix, length) != 0)
		return false;
	*number = 0;
	for (size_t i = length; i < token->length; i++) {
		char c = token->text[i];

		if (c < '0' || c > '9')
			return false;
		*number = *number * 10 + (uint32_t)(c - '0');
		if (*number > most)
			return false;
	}
	return true;
}

void conf_set_argument(struct type *type, uint32_t number)
{
	type->length_from = number ? STRING_ARGUMENT : STRING_RESULT;
	type->length = number ? number - 1 : 0;
}

/* Parses a second factor behind the first, which is a parameter or the result and is in `type`. */
static bool parse_factor(struct conf_parser *parser, struct type *type)
{
	const uint32_t first = type->length_from == STRING_ARGUMENT ? type->length + 1 : 0;
	uint32_t number = 0;

	if (!conf_at_mark(parser, '*'))
		return true;
	conf_take(parser);
	if (!conf_numbered(&parser->token, "arg", CONF_PARAMETERS_MAX, &number) || !number)
		return conf_fail(parser, "arg1 to arg32 as the other factor of a length");
	conf_take(parser);
	type->length_from = STRING_PRODUCT;
	type->length = type_product(first, number);
	return true;
}

/* Parses a number, argN, argN*argM or eltN. Else reports that `expected` was expected. */
static bool parse_bound(struct conf_parser *parser, struct type *type, const char *expected)
{
	const struct conf_token *token = &parser->token;
	uint32_t number = 0;

	if (token->kind == TOKEN_NUMBER && token->number <= UINT32_MAX) {
		type->length_from = STRING_CONSTANT;
		type->length = (uint32_t)token->number;
	} else if (conf_numbered(token, "arg", CONF_PARAMETERS_MAX, &number)) {
		conf_set_argument(type, number);
		conf_take(parser);
		return parse_factor(parser, type);
	} else if (parser->in_struct && conf_numbered(token, "elt", CONF_ELEMENTS_MAX, &number) &&
		   number) {
		type->length_from = STRING_ELEMENT;
		type->length = number - 1;
		parser->elements |= UINT64_C(1) << (number - 1);
	} else {
		return conf_fail(parser, expected);
	}
	conf_take(parser);
	return true;
}

/* Parses `(bound)` behind `retval`, which was taken. */
static bool parse_within(struct conf_parser *parser, struct type *type)
{
	conf_take(parser);
	type->result_ends = true;
	return parse_bound(parser, type,
			   parser->in_struct ? "a length up to 4294967295, arg1 to arg32 or "
					       "elt1 to elt64"
					     : "a length up to 4294967295 or arg1 to arg32") &&
	       conf_expect(parser, ')');
}

/* `success` was taken. */
static bool set_success(struct type *type)
{
	type->length_from = STRING_CONSTANT;
	type->length = 1;
	type->result_ends = true;
	type->if_success = true;
	return true;
}

bool conf_parse_length(struct conf_parser *parser, struct type *type)
{
	if (type->kind == TYPE_ARRAY && type->lens == LENS_DEFAULT &&
	    conf_at_name(parser, "success")) {
		conf_take(parser);
		return set_success(type);
	}
	if (!conf_at_name(parser, "retval"))
		return parse_bound(parser, type,
				   parser->in_struct ? "a length up to 4294967295, arg1 to arg32, "
						       "elt1 to elt64 or retval"
						     : "a length up to 4294967295, arg1 to arg32 "
						       "or retval");
	conf_take(parser);
	if (conf_at_mark(parser, '('))
		return parse_within(parser, type);
	conf_set_argument(type, 0);
	return parse_factor(parser, type);
}

/*
 * Parses zero(…). zero(…) inside of zero(…) means the same, so all are parsed at once; *open counts
 * the parentheses to close.
 */
static bool parse_zeros(struct conf_parser *parser, struct type *type, unsigned *open)
{
	while (conf_at_name(parser, "zero")) {
		conf_take(parser);
		if (!conf_at_mark(parser, '(')) {
			type->length_from = STRING_NUL;
			return true;
		}
		conf_take(parser);
		type->zero_ends = true;
		++*open;
	}
	return conf_parse_length(parser, type);
}

bool conf_parse_extent(struct conf_parser *parser, struct type *type)
{
	unsigned open = 0;
	bool fine = parse_zeros(parser, type, &open);

	while (fine && open--)
		fine = conf_expect(parser, ')');
	return fine;
}
