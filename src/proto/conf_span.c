/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses spans, and `fails` behind a prototype.
 *
 *   span  = "span" NAME "(" parameters ")" "=" point "." "." point { "|" point }
 *           [ "by" EXPRESSION ] [ "with" point [ "by" EXPRESSION ] ] [ "summed" ]
 *   point = NAME [ "(" EXPRESSION ")" ]
 *   fails = "fails" "(" EXPRESSION ")"
 *
 * The expressions are taken as text, between parentheses or up to the next of the words above. The
 * parameters are the prototype of the function that begins the span, if the library has no other.
 */
#include "proto/conf_span.h"

#include "proto/conf_parameter.h"
#include "proto/protolib.h"
#include "proto/span.h"

#include <string.h>

/* Copies the text from one token up to the present one, which it does not contain. */
static const char *text_before(struct conf_parser *parser, const struct conf_token *first,
			       const char *end)
{
	while (end > first->text && strchr(" \t\n\r", end[-1]))
		end--;
	return protolib_text(parser->lib, first->text, (size_t)(end - first->text));
}

/* Takes all up to the ')' that belongs to a '(' which was taken. Returns NULL on an error. */
static const char *parse_in_parentheses(struct conf_parser *parser)
{
	const struct conf_token first = parser->token;
	const char *end = first.text;
	unsigned depth = 0;

	while (depth || !conf_at_mark(parser, ')')) {
		if (parser->token.kind == TOKEN_END || parser->token.kind == TOKEN_UNCLOSED ||
		    conf_at_mark(parser, ';')) {
			conf_fail(parser, "')'");
			return NULL;
		}
		depth += conf_at_mark(parser, '(');
		depth -= conf_at_mark(parser, ')');
		end = parser->token.text + parser->token.length;
		conf_take(parser);
	}
	conf_take(parser);
	if (end == first.text) {
		conf_fail_at(parser, &first, "an expression");
		return NULL;
	}
	return text_before(parser, &first, end);
}

/* Returns true if a word of the language, or the end of the declaration, is here. */
static bool is_at_end(const struct conf_parser *parser)
{
	return conf_is_over(parser) || parser->token.kind == TOKEN_UNCLOSED ||
	       conf_at_name(parser, "with") || conf_at_name(parser, "summed");
}

static const char *parse_key(struct conf_parser *parser)
{
	conf_take(parser);
	const struct conf_token first = parser->token;
	const char *end = first.text;

	while (!is_at_end(parser)) {
		end = parser->token.text + parser->token.length;
		conf_take(parser);
	}
	if (end == first.text) {
		conf_fail_at(parser, &first, "an expression");
		return NULL;
	}
	return text_before(parser, &first, end);
}

static bool parse_point(struct conf_parser *parser, struct span_point *point)
{
	const struct conf_token token = parser->token;
	size_t length = token.length;

	if (token.kind != TOKEN_NAME)
		return conf_fail(parser, "the name of a function");
	/* A name may have dots in it, but not the two in front of the next function. */
	for (size_t i = 0; i + 1 < token.length; i++)
		if (token.text[i] == '.' && token.text[i + 1] == '.')
			return conf_fail(parser, "a blank in front of '..'");
	point->function = protolib_text(parser->lib, token.text, length);
	conf_take(parser);
	if (!conf_at_mark(parser, '('))
		return true;
	conf_take(parser);
	point->condition = parse_in_parentheses(parser);
	return point->condition != NULL;
}

/* Parses the functions that end the span. */
static bool parse_ends(struct conf_parser *parser, struct span *span)
{
	if (!conf_expect(parser, '.') || !conf_expect(parser, '.'))
		return false;
	do {
		if (span->end_count == SPAN_ENDS)
			return conf_fail(parser, "at most four functions that end it");
		if (span->end_count)
			conf_take(parser); /* the '|' */
		if (!parse_point(parser, &span->ends[span->end_count++]))
			return false;
	} while (conf_at_mark(parser, '|'));
	return true;
}

/* Parses what may stand behind the functions. */
static bool parse_rest(struct conf_parser *parser, struct span *span)
{
	if (conf_at_name(parser, "by") && !(span->by = parse_key(parser)))
		return false;
	if (conf_at_name(parser, "with")) {
		conf_take(parser);
		if (!parse_point(parser, &span->with) ||
		    (conf_at_name(parser, "by") && !(span->with_by = parse_key(parser))))
			return false;
	}
	if (conf_at_name(parser, "summed")) {
		conf_take(parser);
		span->summed = true;
	}
	return conf_is_over(parser) || conf_fail(parser, "'by', 'with', 'summed' or ';'");
}

/* Makes the parameters those of the first function, if nothing else is known of it. */
static void add_prototype(struct conf_parser *parser, const struct span *span,
			  const struct conf_parameters *list)
{
	const size_t size = list->count * sizeof list->items[0];

	if (protolib_find(parser->lib, span->begin.function))
		return;
	struct parameter *parameters = protolib_alloc(parser->lib, size);
	struct prototype *prototype = protolib_alloc(parser->lib, sizeof *prototype);

	memcpy(parameters, list->items, size);
	*prototype = (struct prototype){.name = span->begin.function,
					.result = prototype_guess()->result,
					.parameters = parameters,
					.parameter_count = list->count};
	protolib_add(parser->lib, prototype);
}

bool conf_parse_span(struct conf_parser *parser)
{
	struct span parsed = {.line = parser->token.line};
	struct conf_parameters list;

	conf_take(parser);
	const struct conf_token token = parser->token;

	if (token.kind != TOKEN_NAME)
		return conf_fail(parser, "a name for a span");
	parsed.name = protolib_text(parser->lib, token.text, token.length);
	parsed.file = protolib_text(parser->lib, parser->file_name, strlen(parser->file_name));
	conf_take(parser);
	if (!conf_parse_parameters(parser, &list) || !conf_expect(parser, '=') ||
	    !parse_point(parser, &parsed.begin) || !parse_ends(parser, &parsed) ||
	    !parse_rest(parser, &parsed))
		return false;
	struct span *span = protolib_alloc(parser->lib, sizeof *span);

	*span = parsed;
	add_prototype(parser, span, &list);
	protolib_add_span(parser->lib, span);
	return true;
}

const char *conf_parse_fails(struct conf_parser *parser)
{
	conf_take(parser);
	if (!conf_expect(parser, '('))
		return NULL;
	return parse_in_parentheses(parser);
}
