/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types in .conf files. Three kinds of spelling:
 *
 *   words of C in any order   unsigned long int, long long, short unsigned, long double
 *   names                     uint, addr, string, and what typedef named
 *   with something behind     string[arg2] string[16] string[zero(retval)] hex(TYPE) oct(TYPE)
 *
 * hex() and oct() may be nested; the outermost says how it looks. They are counted, not recursed into,
 * so no depth of nesting hurts.
 */
#include "proto/conf_type.h"

#include <string.h>

/* How often each word was there. `unsigned` is both a flag and a type of its own. */
struct c_words {
	unsigned is_signed, is_unsigned;
	unsigned n_char, n_short, n_int, n_long, n_double;
};

static bool is_word(const struct conf_token *token, const char *word, size_t length)
{
	return token->length == length && memcmp(token->text, word, length) == 0;
}

/* The counter of the word, or NULL. Asked of every type, so it goes by the first letter. */
static unsigned *c_word(struct c_words *words, const struct conf_token *token)
{
	if (token->kind != TOKEN_NAME)
		return NULL;
	switch (*token->text) {
	case 'c':
		return is_word(token, "char", 4) ? &words->n_char : NULL;
	case 'd':
		return is_word(token, "double", 6) ? &words->n_double : NULL;
	case 'i':
		return is_word(token, "int", 3) ? &words->n_int : NULL;
	case 'l':
		return is_word(token, "long", 4) ? &words->n_long : NULL;
	case 's':
		if (is_word(token, "signed", 6))
			return &words->is_signed;
		return is_word(token, "short", 5) ? &words->n_short : NULL;
	case 'u':
		return is_word(token, "unsigned", 8) ? &words->is_unsigned : NULL;
	default:
		return NULL;
	}
}

bool conf_is_c_word(const struct conf_token *token)
{
	struct c_words words = {0};

	return c_word(&words, token) != NULL;
}

/* Whether the words so far, in some order and perhaps with more to come, are the start of a C type. */
static bool words_agree(const struct c_words *w)
{
	unsigned sign = w->is_signed + w->is_unsigned;

	if (w->n_double)
		return w->n_double == 1 && w->n_long <= 1 &&
		       !(sign || w->n_char || w->n_short || w->n_int);
	if (w->n_char)
		return w->n_char == 1 && sign <= 1 && !(w->n_short || w->n_int || w->n_long);
	if (w->n_short)
		return w->n_short == 1 && sign <= 1 && w->n_int <= 1 && !w->n_long;
	return sign <= 1 && w->n_int <= 1 && w->n_long <= 2;
}

/* The name under which the library has the type that the words make. */
static const char *words_name(const struct c_words *w)
{
	bool u = w->is_unsigned;

	if (w->n_double)
		return w->n_long ? "ldouble" : "double";
	if (w->n_char)
		return u ? "uchar" : "char";
	if (w->n_short)
		return u ? "ushort" : "short";
	if (w->n_long > 1)
		return u ? "ullong" : "llong";
	if (w->n_long)
		return u ? "ulong" : "long";
	return u ? "uint" : "int";
}

static const struct type *parse_c_words(struct conf_parser *parser)
{
	struct c_words words = {0};
	unsigned *count;

	while ((count = c_word(&words, &parser->token))) {
		++*count;
		if (!words_agree(&words)) {
			--*count;
			conf_fail(parser, "the end of the type");
			return NULL;
		}
		conf_take(parser);
	}
	const char *name = words_name(&words);

	return protolib_type(parser->lib, name, strlen(name));
}

/* arg1, arg2, …: the number less one. */
static bool argument_index(const struct conf_token *token, uint32_t *index)
{
	uint32_t number = 0;

	if (token->kind != TOKEN_NAME || token->length < 4 || memcmp(token->text, "arg", 3) != 0)
		return false;
	for (size_t i = 3; i < token->length; i++) {
		char c = token->text[i];

		if (c < '0' || c > '9')
			return false;
		number = number * 10 + (uint32_t)(c - '0');
		if (number > CONF_PARAMETERS_MAX)
			return false;
	}
	*index = number - 1;
	return number != 0;
}

/* What gives the length of a string: a number, a parameter or the result. */
static bool parse_length(struct conf_parser *parser, struct type *type)
{
	const struct conf_token *token = &parser->token;

	if (token->kind == TOKEN_NUMBER && token->number > 0 && token->number <= UINT32_MAX) {
		type->length_from = STRING_CONSTANT;
		type->length = (uint32_t)token->number;
	} else if (conf_at_name(parser, "retval")) {
		type->length_from = STRING_RESULT;
	} else if (argument_index(token, &type->length)) {
		type->length_from = STRING_ARGUMENT;
	} else {
		return conf_fail(parser, "a length from 1 to 4294967295, arg1 to arg32 or retval");
	}
	conf_take(parser);
	return true;
}

/* What stands between the brackets of string[…]: a length, zero(length) or zero alone. */
static bool parse_brackets(struct conf_parser *parser, struct type *type)
{
	if (!conf_at_name(parser, "zero"))
		return parse_length(parser, type);
	conf_take(parser);
	if (!conf_at_mark(parser, '('))
		return true; /* as without brackets */
	conf_take(parser);
	type->zero_ends = true;
	return parse_length(parser, type) && conf_expect(parser, ')');
}

static const struct type *own(struct conf_parser *parser, const struct type *type)
{
	struct type *copy = protolib_alloc(parser->lib, sizeof *copy);

	*copy = *type;
	return copy;
}

/* `string` was taken and '[' is next. */
static const struct type *parse_sized_string(struct conf_parser *parser, const struct type *string)
{
	struct type type = *string;

	conf_take(parser);
	if (!parse_brackets(parser, &type) || !conf_expect(parser, ']'))
		return NULL;
	return own(parser, &type);
}

static const struct type *parse_named(struct conf_parser *parser, const char *expected)
{
	const struct conf_token token = parser->token;
	const struct type *type = NULL;

	if (token.kind == TOKEN_NAME)
		type = protolib_type(parser->lib, token.text, token.length);
	if (!type) {
		conf_fail(parser, expected);
		return NULL;
	}
	bool is_string = conf_at_name(parser, "string");

	conf_take(parser);
	if (is_string && conf_at_mark(parser, '['))
		return parse_sized_string(parser, type);
	return type;
}

/* hex and oct make the bits visible, so there is no sign to extend. */
static const struct type *with_lens(struct conf_parser *parser, const struct type *type,
				    enum type_lens lens)
{
	struct type changed = *type;

	changed.lens = (uint8_t)lens;
	changed.is_signed = false;
	return own(parser, &changed);
}

static bool at_lens(const struct conf_parser *parser, enum type_lens *lens)
{
	if (conf_at_name(parser, "hex"))
		*lens = LENS_HEX;
	else if (conf_at_name(parser, "oct") || conf_at_name(parser, "octal"))
		*lens = LENS_OCT;
	else
		return false;
	return true;
}

/*
 * Takes the beginnings of hex(… and oct(…, however many; stores how many parentheses are open and
 * what the outermost is. Returns the type when the last one stands alone, as in hex(oct).
 */
static const struct type *parse_lenses(struct conf_parser *parser, size_t *depth,
				       enum type_lens *outermost)
{
	enum type_lens lens = LENS_DEFAULT;

	for (*depth = 0; at_lens(parser, &lens); ++*depth) {
		const struct conf_token name = parser->token;

		conf_take(parser);
		if (!conf_at_mark(parser, '('))
			return protolib_type(parser->lib, name.text, name.length);
		conf_take(parser);
		if (*depth == 0)
			*outermost = lens;
	}
	return NULL;
}

const struct type *conf_parse_type(struct conf_parser *parser)
{
	enum type_lens outermost = LENS_DEFAULT;
	size_t depth = 0;
	const struct type *type = parse_lenses(parser, &depth, &outermost);
	const struct conf_token inner = parser->token;

	if (!type)
		type = conf_is_c_word(&parser->token) ? parse_c_words(parser)
						      : parse_named(parser, "a type");
	if (!type || depth == 0)
		return type;
	if (type->kind != TYPE_INT && type->kind != TYPE_POINTER) {
		conf_fail_at(parser, &inner, "an integer type or addr in parentheses");
		return NULL;
	}
	while (depth--)
		if (!conf_expect(parser, ')'))
			return NULL;
	return with_lens(parser, type, outermost);
}
