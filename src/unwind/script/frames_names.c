/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a frame description and what they stand for, and how a mistake is reported. Only the
 * first mistake of a file is: what follows from it would only confuse.
 */
#include "unwind/script/frames_names.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <string.h>

void frames_fail(struct frames_parser *parser, const char *expected)
{
	const struct frames_token *token = &parser->lexer.token;
	_cleanup_free_ char *message = NULL;

	if (parser->failed)
		return;
	parser->failed = true;
	if (token->kind == FRAMES_END_OF_LINE)
		message = xasprintf("expected %s, found the end of the line", expected);
	else
		message = xasprintf("expected %s, found '%.*s'", expected,
				    (int)(token->length < 80 ? token->length : 80), token->text);
	if (parser->source->error)
		parser->source->error(parser->source->context, parser->path, parser->lexer.line,
				      message);
}

bool frames_expect(struct frames_parser *parser, const char *word)
{
	_cleanup_free_ char *expected = NULL;

	if (!parser->failed && frames_at(&parser->lexer, word)) {
		frames_take(&parser->lexer);
		return true;
	}
	expected = xasprintf("'%s'", word);
	frames_fail(parser, expected);
	return false;
}

void frames_expect_end(struct frames_parser *parser)
{
	if (parser->lexer.token.kind != FRAMES_END_OF_LINE)
		frames_fail(parser, "the end of the line");
}

char *frames_take_name(struct frames_parser *parser, const char *expected)
{
	const struct frames_token *token = &parser->lexer.token;

	if (parser->failed || token->kind != FRAMES_NAME) {
		frames_fail(parser, expected);
		return NULL;
	}
	char *name = xstrndup(token->text, token->length);

	frames_take(&parser->lexer);
	return name;
}

struct frames_name *frames_find(struct frames_parser *parser, const char *name, size_t length)
{
	for (size_t i = parser->names.count; i > 0; i--) {
		struct frames_name *known = vec_at(&parser->names, i - 1);

		if (known->length == length && !memcmp(known->name, name, length))
			return known;
	}
	return NULL;
}

struct frames_name *frames_define(struct frames_parser *parser, const char *name,
				  struct script_operand operand)
{
	struct frames_name *known = frames_find(parser, name, strlen(name));

	if (!known) {
		known = vec_push(&parser->names, NULL);
		known->name = xstrdup(name);
		known->length = strlen(name);
		if (parser->names.count > FRAMES_NAMES_MAX)
			frames_fail(parser, "fewer names");
	}
	known->operand = operand;
	known->formula = (struct frames_lexer){0};
	return known;
}

void frames_forget_locals(struct frames_parser *parser)
{
	for (size_t i = parser->names.count; i > 0; i--) {
		struct frames_name *known = vec_at(&parser->names, i - 1);

		if (known->is_local) {
			free(known->name);
			vec_remove(&parser->names, i - 1);
		}
	}
}

uint8_t frames_value(struct frames_parser *parser, enum script_value_kind kind, const char *symbol)
{
	struct vec *values = &parser->description->values;

	for (size_t i = 0; symbol && i < values->count; i++) {
		const struct script_value *value = vec_at(values, i);

		if (value->kind == kind && !strcmp(value->symbol, symbol))
			return (uint8_t)(SCRIPT_VALUES + i);
	}
	if (values->count == SCRIPT_VALUES_MAX) {
		frames_fail(parser, "fewer symbols and computed values");
		return SCRIPT_VALUES;
	}
	struct script_value value = {kind, symbol ? xstrdup(symbol) : NULL};

	vec_push(values, &value);
	return (uint8_t)(SCRIPT_VALUES + values->count - 1);
}
