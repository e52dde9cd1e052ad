/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses types in .conf files. There are three ways to write one:
 *
 *   words of C in any order   unsigned long int, long long, short unsigned, long double
 *   names                     uint, addr, file, and names defined by typedef
 *   words with a syntax       string[arg2] array(int, 4) hex(TYPE) struct(…): conf_compound.c
 *
 * Any number of '*' may follow. The parser is recursive, no deeper than CONF_LEVELS_MAX.
 */
#include "proto/conf_type.h"

#include "proto/conf.h"
#include "proto/conf_compound.h"

#include <string.h>

/* How often each word was parsed. `unsigned` is both a flag and a type by itself. */
struct c_words {
	unsigned is_signed, is_unsigned;
	unsigned n_char, n_short, n_int, n_long, n_float, n_double, n_ldouble, n_complex;
};

static bool is_word(const struct conf_token *token, const char *word, size_t length)
{
	return token->length == length && memcmp(token->text, word, length) == 0;
}

/* Returns the counter of a word, or NULL. A hot path, so it switches on the first letter. */
static unsigned *c_word(struct c_words *words, const struct conf_token *token)
{
	if (token->kind != TOKEN_NAME)
		return NULL;
	switch (*token->text) {
	case '_':
		return is_word(token, "_Complex", 8) ? &words->n_complex : NULL;
	case 'c':
		/* the macro of <complex.h>; elsewhere an ordinary name */
		if ((words->n_float || words->n_double || words->n_ldouble) &&
		    is_word(token, "complex", 7))
			return &words->n_complex;
		return is_word(token, "char", 4) ? &words->n_char : NULL;
	case 'd':
		return is_word(token, "double", 6) ? &words->n_double : NULL;
	case 'f':
		return is_word(token, "float", 5) ? &words->n_float : NULL;
	case 'i':
		return is_word(token, "int", 3) ? &words->n_int : NULL;
	case 'l':
		if (is_word(token, "ldouble", 7))
			return &words->n_ldouble;
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

/*
 * Returns true if the words so far are the beginning of a C type, in any order and with more to
 * come.
 */
static bool words_agree(const struct c_words *w)
{
	unsigned sign = w->is_signed + w->is_unsigned;

	unsigned integers = sign + w->n_char + w->n_short + w->n_int;

	if (w->n_ldouble)
		return w->n_ldouble == 1 && w->n_complex <= 1 &&
		       !(integers || w->n_long || w->n_float || w->n_double);
	if (w->n_float)
		return w->n_float == 1 && w->n_complex <= 1 &&
		       !(integers || w->n_long || w->n_double);
	if (w->n_double || w->n_complex)
		return w->n_double <= 1 && w->n_complex <= 1 && w->n_long <= 1 && !integers;
	if (w->n_char)
		return w->n_char == 1 && sign <= 1 && !(w->n_short || w->n_int || w->n_long);
	if (w->n_short)
		return w->n_short == 1 && sign <= 1 && w->n_int <= 1 && !w->n_long;
	return sign <= 1 && w->n_int <= 1 && w->n_long <= 2;
}

/* Returns the library's name of the type that the words make. */
static const char *words_name(const struct c_words *w)
{
	bool u = w->is_unsigned;

	if (w->n_complex && w->n_float)
		return "float _Complex";
	if (w->n_complex)
		return w->n_long || w->n_ldouble ? "long double _Complex" : "double _Complex";
	if (w->n_float)
		return "float";
	if (w->n_double)
		return w->n_long ? "ldouble" : "double";
	if (w->n_ldouble)
		return "ldouble";
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

const struct type *conf_pointer(struct conf_parser *parser, const struct type *target)
{
	struct type type = {.kind = TYPE_POINTER, .is_hidden = target->is_hidden};

	if (target->kind != TYPE_VOID)
		type.target = target;
	type_complete(&type);
	return conf_own(parser, &type);
}

const struct type *conf_decay(struct conf_parser *parser, const struct type *type)
{
	if (type->kind != TYPE_ARRAY)
		return type;
	if (type->lens != LENS_TEXT || type_size(type->target, sizeof(uint64_t)) != 1)
		return conf_pointer(parser, type);
	struct type string = *type;

	string.kind = TYPE_STRING;
	string.lens = LENS_DEFAULT;
	string.target = NULL;
	return conf_own(parser, &string);
}

struct type *conf_own(struct conf_parser *parser, const struct type *type)
{
	struct type *copy = protolib_alloc(parser->lib, sizeof *copy);

	*copy = *type;
	return copy;
}

static const struct type *parse_named(struct conf_parser *parser)
{
	const struct conf_token token = parser->token;
	const struct type *type = NULL;

	if (token.kind == TOKEN_NAME)
		type = protolib_type(parser->lib, token.text, token.length);
	if (type)
		conf_take(parser);
	else
		conf_fail(parser, "a type");
	return type;
}

static const struct type *parse_base(struct conf_parser *parser)
{
	bool found = true;

	if (conf_is_c_word(&parser->token))
		return parse_c_words(parser);
	const struct type *type = conf_parse_compound(parser, &found);

	return found ? type : parse_named(parser);
}

const struct type *conf_parse_type(struct conf_parser *parser)
{
	if (parser->levels == CONF_LEVELS_MAX) {
		conf_fail(parser, "fewer types in one another");
		return NULL;
	}
	parser->levels++;
	const struct type *type = parse_base(parser);

	while (type && conf_at_mark(parser, '*')) {
		if (type->kind == TYPE_FORMAT || type->levels >= CONF_LEVELS_MAX) {
			conf_fail(parser, type->kind == TYPE_FORMAT ? "no pointer to a format"
								    : "fewer pointers");
			type = NULL;
			break;
		}
		conf_take(parser);
		type = conf_pointer(parser, type);
	}
	parser->levels--;
	return type;
}

const struct type *conf_parse_object_type(struct conf_parser *parser)
{
	const struct conf_token token = parser->token;
	const struct type *type = conf_parse_type(parser);

	if (!type)
		return NULL;
	if (type->kind == TYPE_VOID || type->kind == TYPE_FORMAT ||
	    (type->kind == TYPE_STRUCT && !type->is_defined) || type->levels >= CONF_LEVELS_MAX) {
		conf_fail_at(parser, &token, "a type of objects of known size");
		return NULL;
	}
	return type;
}
