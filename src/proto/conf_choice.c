/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files: parameters whose type depends on the value of another parameter.
 *
 *   choices     = "if" "(" values ")" [ "or" type [ choices' ] ]
 *   values      = value [ "to" value ] { "," value [ "to" value ] }
 *   value       = NUMBER | a NAME of the enum that the other parameter is
 *
 * The choices are read from left to right. The first one that has the value applies, and a type
 * without values applies to all remaining values. The parser removes this order: from each choice
 * it subtracts the values of the choices before it, and gives a type without values all remaining
 * ones. So the capture plan and the renderer can each test a choice by itself.
 *
 * Only types that take one word, in a register or on the stack, can be chosen: the places of the
 * parameters behind must not depend on the choice.
 */
#include "proto/conf_choice.h"

#include "base/vec.h"
#include "proto/conf.h"

#include <stdlib.h>
#include <string.h>

/* written in one prototype: the time of subtract() grows with the square of their number */
enum { VALUES_MAX = 1000 };

/* The choices parsed so far. */
struct choosing {
	struct conf_parser *parser;
	const struct type *selector;
	struct choice choices[CHOICES_MAX];
	unsigned count;
	/* struct value_range, ascending, not adjacent: the values of all choices so far */
	struct vec taken;
	unsigned written;
};

/* ------------------------------------------------------------------ sets of values */

static int compare_ranges(const void *left, const void *right)
{
	const struct value_range *a = left;
	const struct value_range *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

/* Sorts ranges and joins those that touch. */
static void normalize(struct vec *ranges)
{
	struct value_range *range = ranges->items;
	size_t kept = 0;

	if (!ranges->count)
		return;
	qsort(range, ranges->count, sizeof *range, compare_ranges);
	for (size_t i = 1; i < ranges->count; i++)
		if ((uint64_t)range[i].first <= (uint64_t)range[kept].last + 1) {
			if (range[i].last > range[kept].last)
				range[kept].last = range[i].last;
		} else {
			range[++kept] = range[i];
		}
	ranges->count = kept + 1;
}

/* Appends to `left` the values of `from` that are not in `taken`. Both are sorted. */
static void subtract(const struct vec *from, const struct vec *taken, struct vec *left)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct value_range *range = vec_at(from, i);
		uint64_t first = range->first;

		for (size_t k = 0; k < taken->count && first <= range->last; k++) {
			const struct value_range *hole = vec_at(taken, k);

			if (hole->last < first || hole->first > range->last)
				continue;
			if (hole->first > first)
				vec_push(left,
					 &(struct value_range){(uint32_t)first, hole->first - 1});
			first = (uint64_t)hole->last + 1;
		}
		if (first <= range->last)
			vec_push(left, &(struct value_range){(uint32_t)first, range->last});
	}
}

/* ------------------------------------------------------------------ parsing */

static bool find_name(const struct type *type, const struct conf_token *token, uint32_t *value)
{
	for (uint32_t i = 0; i < type->count; i++) {
		const char *name = type->names[i].name;

		if (strlen(name) == token->length && !memcmp(name, token->text, token->length)) {
			*value = (uint32_t)type->names[i].value;
			return true;
		}
	}
	return false;
}

static bool parse_value(struct choosing *choosing, uint32_t *value)
{
	struct conf_parser *parser = choosing->parser;
	const struct type *selector = choosing->selector;
	const bool is_named = selector->lens == LENS_ENUM || selector->lens == LENS_BITSET;

	if (parser->token.kind == TOKEN_NUMBER && parser->token.number <= UINT32_MAX)
		*value = (uint32_t)parser->token.number;
	else if (parser->token.kind != TOKEN_NAME || !is_named ||
		 !find_name(selector, &parser->token, value))
		return conf_fail(parser, is_named ? "a number, or a name of the enum before"
						  : "a number of 32 bits");
	if (++choosing->written > VALUES_MAX)
		return conf_fail(parser, "fewer values");
	conf_take(parser);
	return true;
}

static bool parse_range(struct choosing *choosing, struct vec *values)
{
	struct conf_parser *parser = choosing->parser;
	struct value_range range;

	if (!parse_value(choosing, &range.first))
		return false;
	range.last = range.first;
	if (conf_at_name(parser, "to")) {
		conf_take(parser);
		const struct conf_token token = parser->token;

		if (!parse_value(choosing, &range.last))
			return false;
		if (range.last < range.first)
			return conf_fail_at(parser, &token,
					    "a number not less than the one before");
	}
	vec_push(values, &range);
	return true;
}

/* Parses from "(" up to and with ")". */
static bool parse_values(struct choosing *choosing, struct vec *values)
{
	struct conf_parser *parser = choosing->parser;

	if (!conf_expect(parser, '('))
		return false;
	while (parse_range(choosing, values)) {
		if (conf_at_mark(parser, ')')) {
			conf_take(parser);
			normalize(values);
			return true;
		}
		if (!conf_at_mark(parser, ','))
			return conf_fail(parser, "',' or ')'");
		conf_take(parser);
	}
	return false;
}

/* Adds a choice with those of its values that no earlier choice has. */
static void add_choice(struct choosing *choosing, const struct type *type, const struct vec *values)
{
	struct vec left = VEC_OF(struct value_range);

	subtract(values, &choosing->taken, &left);
	size_t size = left.count * sizeof(struct value_range);
	struct value_range *copy = protolib_alloc(choosing->parser->lib, size ? size : 1);

	for (size_t i = 0; i < left.count; i++) {
		copy[i] = *(struct value_range *)vec_at(&left, i);
		vec_push(&choosing->taken, &copy[i]);
	}
	choosing->choices[choosing->count++] =
		(struct choice){.type = type, .values = copy, .value_count = (unsigned)left.count};
	normalize(&choosing->taken);
	vec_deinit(&left);
}

static bool can_be_chosen(const struct type *type)
{
	return !type->is_hidden &&
	       (type->kind == TYPE_INT || type->kind == TYPE_STRING || type->kind == TYPE_POINTER);
}

static const struct type *parse_choice_type(struct conf_parser *parser)
{
	const struct conf_token token = parser->token;
	const struct type *type = conf_parse_type(parser);

	if (!type)
		return NULL;
	type = conf_decay(parser, type);
	if (!can_be_chosen(type)) {
		conf_fail_at(parser, &token, "an integer, a pointer or a string");
		return NULL;
	}
	return type;
}

/*
 * Parses `if (…)` behind a type, or nothing, which stands for all other values. *more: another
 * choice may follow.
 */
static bool parse_condition(struct choosing *choosing, const struct type *type, bool *more)
{
	struct vec values = VEC_OF(struct value_range);
	bool parsed = true;

	*more = conf_at_name(choosing->parser, "if");
	if (*more) {
		conf_take(choosing->parser);
		parsed = parse_values(choosing, &values);
	} else {
		vec_push(&values, &(struct value_range){0, UINT32_MAX});
	}
	if (parsed)
		add_choice(choosing, type, &values);
	vec_deinit(&values);
	return parsed;
}

static bool parse_all(struct choosing *choosing, const struct type *type)
{
	struct conf_parser *parser = choosing->parser;
	bool more;

	while (parse_condition(choosing, type, &more)) {
		if (!more || !conf_at_name(parser, "or"))
			return true;
		if (choosing->count == CHOICES_MAX)
			return conf_fail(parser, "at most 7 types to choose from");
		conf_take(parser);
		type = parse_choice_type(parser);
		if (!type)
			return false;
	}
	return false;
}

bool conf_parse_choices(struct conf_parser *parser, const struct parameter *selector,
			struct parameter *parameter)
{
	if (!selector || selector->type->kind != TYPE_INT || selector->type->is_hidden)
		return conf_fail(parser,
				 "an integer parameter before it, as this gives its values");
	if (!can_be_chosen(parameter->type))
		return conf_fail(parser, "an integer, a pointer or a string in front of it");
	struct choosing choosing = {
		.parser = parser, .selector = selector->type, .taken = VEC_OF(struct value_range)};
	bool parsed = parse_all(&choosing, parameter->type);

	vec_deinit(&choosing.taken);
	if (!parsed)
		return false;
	const size_t size = choosing.count * sizeof *choosing.choices;
	struct choice *copy = protolib_alloc(parser->lib, size);

	memcpy(copy, choosing.choices, size);
	parameter->choices = copy;
	parameter->choice_count = choosing.count;
	return true;
}
