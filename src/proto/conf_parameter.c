/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files: the parameters of a prototype.
 *
 *   parameters  = "(" [ "void" | parameter { "," parameter } ] ")"
 *   parameter   = [ "+" ] type [ choices | "with" NUMBER ] [ NAME ]
 *
 * with choices in conf_choice.c. What a parameter says of others, that they are its length or that
 * their bits or values say what it is, is checked here: of those before it at once, of all when all
 * are known.
 */
#include "proto/conf_parameter.h"

#include <stdio.h>

static bool check_parameter(struct conf_parser *parser, const struct conf_parameters *list,
			    const struct conf_token *token, const struct type *type)
{
	if (list->count == CONF_PARAMETERS_MAX)
		return conf_fail_at(parser, token, "at most 32 parameters");
	if (type->kind == TYPE_STRUCT && !type->is_defined)
		return conf_fail_at(parser, token, "the type of a parameter");
	for (unsigned i = 0; i < list->count && type->kind == TYPE_FORMAT; i++)
		if (list->items[i].type->kind == TYPE_FORMAT)
			return conf_fail_at(parser, token, "no other format");
	return true;
}

/* The last parameter before that is always passed, and always the same; NULL if there is none. */
static const struct parameter *selector_of(const struct conf_parameters *list)
{
	unsigned before = list->count;

	while (before && (list->items[before - 1].only_with || list->items[before - 1].choices))
		before--;
	return before ? &list->items[before - 1] : NULL;
}

/* `with NUMBER`: *bits of the parameter before. A parameter may be called so, too. */
static bool parse_with(struct conf_parser *parser, const struct conf_parameters *list,
		       uint32_t *bits)
{
	const struct conf_place with_place = conf_place_of(parser);

	if (!conf_at_name(parser, "with"))
		return true;
	conf_take(parser);
	if (parser->token.kind != TOKEN_NUMBER) {
		conf_go_back(parser, &with_place);
		return true;
	}
	const struct parameter *selector = selector_of(list);

	if (!selector || selector->type->kind != TYPE_INT)
		return conf_fail(parser, "an integer parameter before it, as this gives its bits");
	if (!parser->token.number || parser->token.number > UINT32_MAX)
		return conf_fail(parser, "bits of the parameter before");
	*bits = (uint32_t)parser->token.number;
	conf_take(parser);
	return true;
}

static bool needs_result(const struct parameter *parameter)
{
	bool needs = parameter->type->needs_result;

	for (unsigned k = 1; k < parameter->choice_count; k++)
		needs |= parameter->choices[k].type->needs_result;
	return needs;
}

/* What a parameter of a type is: `void`, where it is not all there is, is one that is not shown. */
static const struct type *as_parameter(struct conf_parser *parser, const struct type *type)
{
	struct type hidden = *protolib_own_type("int");

	hidden.is_hidden = true;
	return type->kind == TYPE_VOID ? conf_own(parser, &hidden) : conf_decay(parser, type);
}

static bool parse_parameter(struct conf_parser *parser, struct conf_parameters *list)
{
	bool is_filled = conf_at_mark(parser, '+');

	if (is_filled)
		conf_take(parser);
	const struct conf_token token = parser->token;
	const struct type *type = conf_parse_type(parser);

	if (!type || !check_parameter(parser, list, &token, type))
		return false;
	struct parameter parameter = {.type = as_parameter(parser, type)};

	if (conf_at_name(parser, "if")) {
		const struct parameter *selector = selector_of(list);

		if (!conf_parse_choices(parser, selector, &parameter))
			return false;
		parameter.selector = (unsigned)(selector - list->items);
	} else if (!parse_with(parser, list, &parameter.only_with)) {
		return false;
	}
	/* Its length is not known before. */
	parameter.is_filled = is_filled || needs_result(&parameter);
	list->on_return |= parameter.is_filled;
	parameter.on_return = list->on_return;
	if (parser->token.kind == TOKEN_NAME && !conf_is_c_word(&parser->token)) {
		parameter.name = protolib_text(parser->lib, parser->token.text,
					       parser->token.length);
		conf_take(parser);
	}
	list->tokens[list->count] = token;
	list->items[list->count++] = parameter;
	return true;
}

bool conf_parse_parameters(struct conf_parser *parser, struct conf_parameters *list)
{
	list->count = 0;
	list->on_return = false;
	if (!conf_expect(parser, '('))
		return false;
	if (conf_at_name(parser, "void")) {
		const struct conf_place void_place = conf_place_of(parser);

		conf_take(parser);
		if (!conf_at_mark(parser, ')'))
			conf_go_back(parser, &void_place);
	}
	while (!conf_at_mark(parser, ')')) {
		if (!parse_parameter(parser, list))
			return false;
		if (conf_at_mark(parser, ')'))
			break;
		if (!conf_at_mark(parser, ','))
			return conf_fail(parser, "',' or ')'");
		conf_take(parser);
		if (conf_at_mark(parser, ')'))
			return conf_fail(parser, "a type");
	}
	conf_take(parser);
	return true;
}

/* Whether a parameter can be a length in the type that was at `token`. */
static bool check_argument(struct conf_parser *parser, const struct conf_parameters *list,
			   unsigned index, const struct conf_token *token)
{
	char expected[80];

	if (index >= list->count) {
		snprintf(expected, sizeof expected, "arg1 to arg%u as its length", list->count);
		return conf_fail_at(parser, token,
				    list->count ? expected : "a parameter for the length");
	}
	const struct type *type = list->items[index].type;
	const bool is_pointed = type->kind == TYPE_POINTER && type->target &&
				type->target->kind == TYPE_INT;
	const bool is_integer = !list->items[index].choices &&
				(type->kind == TYPE_INT || is_pointed);

	if (!is_integer) {
		snprintf(expected, sizeof expected,
			 "an integer type, or a pointer to one, as arg%u gives a length",
			 index + 1);
		return conf_fail_at(parser, &list->tokens[index], expected);
	}
	return true;
}

/* Whether what gives lengths in a type can do so. */
static bool check_length(struct conf_parser *parser, const struct conf_parameters *list,
			 const struct type *result, const struct type *type,
			 const struct conf_token *token)
{
	if (type->needs_result && (result->kind != TYPE_INT || result->is_hidden))
		return conf_fail_at(
			parser, token,
			"an integer result that is shown, as its length is taken from that (retval)");
	for (unsigned i = 0; i < CONF_PARAMETERS_MAX; i++)
		if ((type->arguments >> i & 1) && !check_argument(parser, list, i, token))
			return false;
	return true;
}

bool conf_check_lengths(struct conf_parser *parser, const struct conf_parameters *list,
			const struct type *result, const struct conf_token *result_token)
{
	if (!check_length(parser, list, result, result, result_token))
		return false;
	for (unsigned i = 0; i < list->count; i++) {
		const struct parameter *parameter = &list->items[i];

		if (!check_length(parser, list, result, parameter->type, &list->tokens[i]))
			return false;
		for (unsigned k = 1; k < parameter->choice_count; k++)
			if (!check_length(parser, list, result, parameter->choices[k].type,
					  &list->tokens[i]))
				return false;
	}
	return true;
}
