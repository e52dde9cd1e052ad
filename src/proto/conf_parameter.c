/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files: the parameters of a prototype.
 *
 *   parameters  = "(" [ "void" | parameter { "," parameter } ] ")"
 *   parameter   = [ "+" ] type [ choices | "with" NUMBER | "@" path ] [ NAME ]
 *   path        = { "*" } NAME "(" "argN" ")" | sum
 *   sum         = place [ ( "+" | "-" ) NUMBER ]
 *   place       = "argN" | "*" place | "(" sum ")"
 *
 * Choices are parsed in conf_choice.c. A parameter may refer to others: to their bits or values,
 * which determine its type, or to one that is its length. References of the first kind are to
 * earlier parameters and are checked at once. Lengths are checked when all parameters are known.
 */
#include "proto/conf_parameter.h"

#include "proto/conf.h"
#include "proto/conf_choice.h"
#include "proto/conf_extent.h"

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

/*
 * Returns the last parameter so far that is always passed and has one type; NULL if there is none.
 */
static const struct parameter *selector_of(const struct conf_parameters *list)
{
	unsigned before = list->count;

	while (before && (list->items[before - 1].only_with || list->items[before - 1].choices))
		before--;
	return before ? &list->items[before - 1] : NULL;
}

/*
 * Parses `with NUMBER` into *bits: bits of the selector. `with` without a number is the name of the
 * parameter.
 */
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

enum { PATH_DEPTH_MAX = 8 }; /* nested parentheses */

/* The path parsed so far. */
struct path_parser {
	struct conf_parser *parser;
	char argument[8]; /* the name of the parameter in the path */
	unsigned depth;
	struct text_path path;
};

static bool parse_path_argument(struct path_parser *path)
{
	if (conf_at_name(path->parser, path->argument)) {
		conf_take(path->parser);
		return true;
	}
	char expected[40];

	snprintf(expected, sizeof expected, "%s, the parameter itself", path->argument);
	return conf_fail(path->parser, expected);
}

static bool parse_path_sum(struct path_parser *path);

static bool parse_path_place(struct path_parser *path)
{
	struct conf_parser *parser = path->parser;
	unsigned loads = 0;

	for (; conf_at_mark(parser, '*'); loads++)
		conf_take(parser);
	if (conf_at_mark(parser, '(')) {
		if (path->depth++ == PATH_DEPTH_MAX)
			return conf_fail(parser, "fewer parentheses");
		conf_take(parser);
		if (!parse_path_sum(path) || !conf_expect(parser, ')'))
			return false;
	} else if (!parse_path_argument(path)) {
		return false;
	}
	path->path.loads += loads;
	return path->path.loads <= TEXT_LOADS_MAX || conf_fail(parser, "at most two '*'");
}

static bool parse_path_sum(struct path_parser *path)
{
	struct conf_parser *parser = path->parser;

	if (!parse_path_place(path))
		return false;
	const bool minus = conf_at_mark(parser, '-');

	if (!minus && !conf_at_mark(parser, '+'))
		return true;
	conf_take(parser);
	int32_t *offset = &path->path.offset[path->path.loads];
	const uint64_t number = parser->token.number;

	if (parser->token.kind != TOKEN_NUMBER || number > INT32_MAX)
		return conf_fail(parser, "an offset (a number)");
	const int64_t sum = *offset + (minus ? -(int64_t)number : (int64_t)number);

	if (sum < INT32_MIN || sum > INT32_MAX)
		return conf_fail(parser, "an offset (a number)");
	conf_take(parser);
	*offset = (int32_t)sum;
	return true;
}

/*
 * Returns true if, behind any '*', a function is named. No other path begins with a name except
 * argN.
 */
static bool is_at_accessor(struct conf_parser *parser)
{
	const struct conf_place place = conf_place_of(parser);
	uint32_t number;

	while (conf_at_mark(parser, '*'))
		conf_take(parser);
	const bool is = parser->token.kind == TOKEN_NAME &&
			!conf_numbered(&parser->token, "arg", 9999, &number);

	conf_go_back(parser, &place);
	return is;
}

static bool parse_path_accessor(struct path_parser *path)
{
	struct conf_parser *parser = path->parser;

	for (; conf_at_mark(parser, '*'); conf_take(parser))
		if (path->path.loads++ == TEXT_LOADS_MAX)
			return conf_fail(parser, "at most two '*'");
	const struct conf_token token = parser->token;

	conf_take(parser);
	path->path.accessor = protolib_text(parser->lib, token.text, token.length);
	return conf_expect(parser, '(') && parse_path_argument(path) && conf_expect(parser, ')');
}

/* Parses `@ PATH`: where the text is that the argument leads to. */
static bool parse_path(struct conf_parser *parser, const struct conf_parameters *list,
		       struct parameter *parameter)
{
	struct path_parser path = {.parser = parser};

	if (!conf_at_mark(parser, '@'))
		return true;
	if (parameter->type->kind != TYPE_STRING)
		return conf_fail(parser, "no '@' behind what is no string");
	snprintf(path.argument, sizeof path.argument, "arg%u", list->count + 1);
	conf_take(parser);
	if (is_at_accessor(parser) ? !parse_path_accessor(&path) : !parse_path_sum(&path))
		return false;
	struct text_path *made = protolib_alloc(parser->lib, sizeof *made);

	*made = path.path;
	parameter->path = made;
	return true;
}

static bool needs_result(const struct parameter *parameter)
{
	bool needs = parameter->type->needs_result;

	for (unsigned k = 1; k < parameter->choice_count; k++)
		needs |= parameter->choices[k].type->needs_result;
	return needs;
}

/* Converts a type to that of a parameter. `void` among other parameters becomes a hidden int. */
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
	} else if (!parse_with(parser, list, &parameter.only_with) ||
		   !parse_path(parser, list, &parameter)) {
		return false;
	}
	/* A parameter whose length is the result is filled by the call. */
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

/* Checks that a parameter can be a length in the type that was parsed at `token`. */
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

/* Checks that the parameters, and the result, that are lengths in a type can be lengths. */
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
