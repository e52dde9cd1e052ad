/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of frame descriptions. A statement is a line. On the top level:
 *
 *     language NAME    version TEXT    module SYMBOL    symbol NAME, …    native FUNCTION, …
 *     when CONDITION   tell NUMBER, …  NAME = EXPRESSION   let NAME = FORMULA
 *     import FILE      part
 *     file …   function …   line …     (frames_clauses.c)                 walk … end
 *
 * and in a walk (frames_walk.c) loops, conditions, variables and `emit`. An imported file is read
 * as if its lines stood in place of the import. So a file for a version can be a list of numbers,
 * and the walk that uses them a file that all versions import.
 *
 * A number that is named costs nothing: it becomes a part of instructions. What has to be read from
 * the process is computed once for each process, by the setup program.
 */
#include "unwind/script/frames_parser.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "unwind/script/frames_clauses.h"
#include "unwind/script/frames_expression.h"
#include "unwind/script/frames_names.h"
#include "unwind/script/frames_walk.h"

#include <string.h>

enum { IMPORTS_MAX = 8 };

static void statements(struct frames_parser *parser);

/* Puts the rest of the line into *field, which must not have been set. */
static void take_word(struct frames_parser *parser, char **field, const char *expected)
{
	size_t length;

	frames_take(&parser->lexer);
	if (*field || parser->lexer.token.kind == FRAMES_END_OF_LINE) {
		frames_fail(parser, *field ? "that only once" : expected);
		return;
	}
	const char *rest = frames_take_rest(&parser->lexer, &length);

	*field = xstrndup(rest, length);
}

static void define_symbol(struct frames_parser *parser, const char *symbol)
{
	const uint8_t value = frames_value(parser, SCRIPT_VALUE_ADDRESS, symbol);

	frames_define(parser, symbol, operand_register(value));
}

static void module_statement(struct frames_parser *parser)
{
	take_word(parser, &parser->description->module, "a symbol");
	if (!parser->failed)
		define_symbol(parser, parser->description->module);
}

/* `symbol` and `native`: names with commas between them. */
static void list_statement(struct frames_parser *parser, bool are_symbols)
{
	do {
		frames_take(&parser->lexer);
		char *name = frames_take_name(parser, "a symbol");

		if (name && are_symbols)
			define_symbol(parser, name);
		if (name && !are_symbols)
			vec_push(&parser->description->natives, &name);
		else
			free(name);
	} while (!parser->failed && frames_at(&parser->lexer, ","));
}

/* Lets parser->code and another program change places. */
static void swap_code(struct frames_parser *parser, struct script_code *other)
{
	const struct script_code code = parser->code;

	parser->code = *other;
	*other = code;
}

/* All conditions must hold: the first that does not is the result. */
static void when_statement(struct frames_parser *parser)
{
	frames_take(&parser->lexer);
	swap_code(parser, &parser->when);
	parser->in_when = true;
	const struct script_operand condition = frames_expression(parser);

	code_result(&parser->code, 0, condition);
	const size_t holds = code_jump_if_zero(
		&parser->code,
		code_compute(&parser->code, SCRIPT_EQ, condition, operand_number(0)));

	code_end(&parser->code);
	code_land(&parser->code, holds);
	code_drop_temporaries(&parser->code);
	parser->in_when = false;
	swap_code(parser, &parser->when);
}

static void tell_statement(struct frames_parser *parser)
{
	struct script_description *description = parser->description;

	if (description->tell)
		frames_fail(parser, "that only once");
	parser->in_when = true;
	do {
		frames_take(&parser->lexer);
		const struct script_operand number = frames_expression(parser);

		if (description->tell_count == SCRIPT_ARGUMENTS_MAX)
			frames_fail(parser, "fewer numbers");
		else
			code_result(&parser->code, description->tell_count++, number);
	} while (!parser->failed && frames_at(&parser->lexer, ","));
	parser->in_when = false;
	free(description->tell);
	description->tell = code_finish(&parser->code);
}

/* Gives a name to a number, or to what the setup program computes. */
static void definition(struct frames_parser *parser)
{
	_cleanup_free_ char *name = frames_take_name(parser, "a statement");

	if (!name || !frames_expect(parser, "="))
		return;
	swap_code(parser, &parser->setup);
	struct script_operand operand = frames_expression(parser);
	const bool is_computed = !operand_is_number(operand);

	if (is_computed) {
		const uint8_t value = frames_value(parser, SCRIPT_VALUE_COMPUTED, NULL);

		code_assign(&parser->code, value, operand);
		operand = operand_register(value);
		code_result(&parser->code, value - SCRIPT_VALUES, operand);
	}
	code_drop_temporaries(&parser->code);
	swap_code(parser, &parser->setup);
	frames_define(parser, name, operand)->is_computed = is_computed;
}

/* let NAME = FORMULA: the formula is computed wherever the name is used, of what is known there. */
static void let_statement(struct frames_parser *parser)
{
	frames_take(&parser->lexer);
	_cleanup_free_ char *name = frames_take_name(parser, "a name");

	if (!name || !frames_expect(parser, "="))
		return;
	struct frames_name *known = frames_define(parser, name, operand_number(0));

	known->formula = parser->lexer;
	while (parser->lexer.token.kind != FRAMES_END_OF_LINE)
		frames_take(&parser->lexer);
}

/* Reads another file as if it stood here. */
static void import_statement(struct frames_parser *parser)
{
	const struct frames_lexer lexer = parser->lexer;
	const char *path = parser->path;
	_cleanup_free_ char *imported = NULL;
	char *text = NULL;

	frames_take(&parser->lexer);
	_cleanup_free_ char *name = frames_take_name(parser, "the name of a file");

	if (name && ++parser->imports <= IMPORTS_MAX && parser->source->import)
		text = parser->source->import(parser->source->context, name, &imported);
	if (text)
		vec_push(&parser->texts, &text);
	if (name && !text) {
		parser->lexer = lexer;
		frames_take(&parser->lexer);
		frames_fail(parser, "the name of a file in this directory");
	}
	if (parser->failed)
		return;
	parser->path = imported;
	frames_lexer_init(&parser->lexer, text);
	statements(parser);
	parser->path = path;
	parser->lexer = lexer;
	while (parser->lexer.token.kind != FRAMES_END_OF_LINE)
		frames_take(&parser->lexer);
}

/* The first line of a file that is only imported: on its own, it is not read. */
static void part_statement(struct frames_parser *parser)
{
	frames_take(&parser->lexer);
	parser->is_part = !parser->imports;
}

static void statement(struct frames_parser *parser)
{
	const struct frames_lexer *lexer = &parser->lexer;
	struct script_description *description = parser->description;

	if (frames_at(lexer, "part"))
		part_statement(parser);
	else if (frames_at(lexer, "language"))
		take_word(parser, &description->language, "a name");
	else if (frames_at(lexer, "version"))
		take_word(parser, &description->version, "a version");
	else if (frames_at(lexer, "module"))
		module_statement(parser);
	else if (frames_at(lexer, "symbol") || frames_at(lexer, "native"))
		list_statement(parser, frames_at(lexer, "symbol"));
	else if (frames_at(lexer, "when"))
		when_statement(parser);
	else if (frames_at(lexer, "tell"))
		tell_statement(parser);
	else if (frames_at(lexer, "import"))
		import_statement(parser);
	else if (frames_at(lexer, "let"))
		let_statement(parser);
	else if (frames_at(lexer, "walk"))
		frames_walk(parser);
	else if (!frames_clause(parser))
		definition(parser);
	if (!parser->failed)
		frames_expect_end(parser);
}

static void statements(struct frames_parser *parser)
{
	while (!parser->failed && !parser->is_part &&
	       parser->lexer.token.kind != FRAMES_END_OF_LINE) {
		statement(parser);
		if (!parser->failed && !frames_next_line(&parser->lexer))
			break;
		if (parser->code.overflow || parser->when.overflow || parser->setup.overflow)
			frames_fail(parser, "a shorter program");
	}
}

/* Reports what the whole file lacks. */
static void check_complete(struct frames_parser *parser)
{
	const struct script_description *description = parser->description;
	const char *missing = NULL;

	if (parser->failed || parser->is_part)
		return;
	if (!description->language)
		missing = "a statement 'language'";
	else if (!description->version)
		missing = "a statement 'version'";
	else if (!description->module)
		missing = "a statement 'module'";
	else if (!parser->when.instructions.count)
		missing = "a statement 'when'";
	else if (!description->walk)
		missing = "a statement 'walk'";
	else if (!description->lines.count)
		missing = "a statement 'line'";
	if (missing)
		frames_fail(parser, missing);
}

static void parser_deinit(struct frames_parser *parser)
{
	for (size_t i = 0; i < parser->names.count; i++) {
		const struct frames_name *name = vec_at(&parser->names, i);

		free(name->name);
	}
	vec_deinit(&parser->names);
	for (size_t i = 0; i < parser->texts.count; i++)
		free(*(char **)vec_at(&parser->texts, i));
	vec_deinit(&parser->texts);
	code_deinit(&parser->code);
	code_deinit(&parser->setup);
	code_deinit(&parser->when);
}

struct script_description *frames_parse(const char *path, const char *text,
					const struct frames_source *source)
{
	struct frames_parser parser = {.path = path,
				       .source = source,
				       .names = VEC_OF(struct frames_name),
				       .texts = VEC_OF(char *),
				       .description = script_description_create(path)};
	struct script_description *description = parser.description;

	code_init(&parser.code);
	code_init(&parser.setup);
	code_init(&parser.when);
	frames_define(&parser, "thread_pointer", operand_register(SCRIPT_THREAD_POINTER));
	frames_define(&parser, "tid", operand_register(SCRIPT_TID));
	frames_lexer_init(&parser.lexer, text);
	statements(&parser);
	check_complete(&parser);
	description->setup = code_finish(&parser.setup);
	description->when = code_finish(&parser.when);
	if (parser.failed || parser.is_part) {
		script_description_destroy(description);
		description = NULL;
	}
	parser_deinit(&parser);
	return description;
}
