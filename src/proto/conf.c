/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files, by recursive descent:
 *
 *   file        = { declaration ( ";" | end of the line ) }
 *   declaration = "typedef" NAME "=" ( type | "struct" )
 *               | "import" TEXT
 *               | [ "function" ] type NAME "(" [ "void" | parameter { "," parameter } ] ")" [ slot ]
 *   slot        = "@" "*" NAME place [ "(" ")" place ]
 *   place       = [ "+" NUMBER ] [ "[" NUMBER "]" ]
 *
 * with parameters in conf_parameter.c, types in conf_type.c and conf_compound.c. One token is
 * looked ahead. A declaration is all or nothing: it enters the library when its end was seen. After
 * an error everything up to the next ';' is passed over, so each broken declaration is reported
 * once and the others count.
 *
 * A declaration may go on over several lines; where it could end and the line does, it has ended,
 * as ltrace has one on a line and asks for no ';'. That is two things: the end of a declaration,
 * and, behind one or as the first mark on a line, the beginning of a comment.
 *
 * Files are the user's, but nothing in them can hurt: time and memory grow linearly with their
 * size, names and numbers have no length at which something overflows, and what is quoted in a
 * message is escaped and cut.
 */
#include "proto/conf_parameter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	ERRORS_MAX = 50, /* then the file is taken for something else */
	FOUND_MAX = 40	 /* bytes of the text that are quoted */
};

void conf_take(struct conf_parser *parser)
{
	parser->token = conf_lexer_next(&parser->lexer);
}

bool conf_at_mark(const struct conf_parser *parser, char mark)
{
	const struct conf_token *token = &parser->token;

	return token->kind == TOKEN_PUNCTUATION && token->length == 1 && *token->text == mark;
}

bool conf_at_name(const struct conf_parser *parser, const char *name)
{
	const struct conf_token *token = &parser->token;

	return token->kind == TOKEN_NAME && token->length == strlen(name) &&
	       memcmp(token->text, name, token->length) == 0;
}

/* The token as a person would call it. */
static void describe(char *buffer, size_t size, const struct conf_token *token)
{
	char quoted[FOUND_MAX + 1];
	size_t length = 0;
	size_t i = 0;

	if (token->kind == TOKEN_END || token->kind == TOKEN_UNCLOSED) {
		snprintf(buffer, size, "%s",
			 token->kind == TOKEN_END ? "the end of the file"
						  : "the end of the file within a comment");
		return;
	}
	for (; i < token->length && length + 5 < sizeof quoted; i++) {
		unsigned char c = (unsigned char)token->text[i];
		bool plain = c >= ' ' && c < 0x7f;

		length += (size_t)snprintf(quoted + length, sizeof quoted - length,
					   plain ? "%c" : "\\%03o", c);
	}
	snprintf(buffer, size, "'%s'%s", quoted, i < token->length ? "..." : "");
}

static void report(struct conf_parser *parser, unsigned line, const char *message)
{
	parser->errors++;
	if (parser->error)
		parser->error(parser->context, parser->file_name, line, message);
}

bool conf_fail_at(struct conf_parser *parser, const struct conf_token *token, const char *expected)
{
	char found[2 * FOUND_MAX];
	char message[256];

	if (token->kind == TOKEN_UNCLOSED)
		parser->said_unclosed = true;
	describe(found, sizeof found, token);
	snprintf(message, sizeof message, "expected %s, found %s", expected, found);
	report(parser, token->line, message);
	return false;
}

bool conf_fail(struct conf_parser *parser, const char *expected)
{
	return conf_fail_at(parser, &parser->token, expected);
}

bool conf_expect(struct conf_parser *parser, char mark)
{
	const char expected[] = {'\'', mark, '\'', '\0'};

	if (!conf_at_mark(parser, mark))
		return conf_fail(parser, expected);
	conf_take(parser);
	return true;
}

struct conf_place conf_place_of(const struct conf_parser *parser)
{
	return (struct conf_place){parser->lexer, parser->token};
}

void conf_go_back(struct conf_parser *parser, const struct conf_place *place)
{
	parser->lexer = place->lexer;
	parser->token = place->token;
}

/* Takes a name and copies it; NULL when there is none. */
static const char *parse_name(struct conf_parser *parser, const char *expected)
{
	const struct conf_token token = parser->token;

	if (token.kind != TOKEN_NAME) {
		conf_fail(parser, expected);
		return NULL;
	}
	conf_take(parser);
	return protolib_text(parser->lib, token.text, token.length);
}

static bool parse_number(struct conf_parser *parser, uint64_t *number, const char *expected)
{
	conf_take(parser);
	if (parser->token.kind != TOKEN_NUMBER)
		return conf_fail(parser, expected);
	*number = parser->token.number;
	conf_take(parser);
	return true;
}

/* Where a declaration may end: whether it does. */
static bool is_over(const struct conf_parser *parser)
{
	return conf_at_mark(parser, ';') || parser->token.kind == TOKEN_END ||
	       (parser->token.first && parser->token.kind != TOKEN_UNCLOSED);
}

/* How far behind the beginning of a table: `+OFFSET`, `[INDEX]`, both or neither. */
static bool parse_place(struct conf_parser *parser, struct table_place *place)
{
	if (conf_at_mark(parser, '+') &&
	    !parse_number(parser, &place->offset, "an offset (a number)"))
		return false;
	if (!conf_at_mark(parser, '['))
		return true;
	return parse_number(parser, &place->index, "an index (a number)") &&
	       conf_expect(parser, ']');
}

/*
 * What follows the parameters: `@ *SYMBOL[INDEX]`, or `@ *SYMBOL[INDEX]()[INDEX]` where the word
 * found first is that of a function which returns the address of the table; and the end.
 */
static bool parse_slot(struct conf_parser *parser, struct prototype *prototype)
{
	if (!conf_at_mark(parser, '@'))
		return is_over(parser) || conf_fail(parser, "';' or '@'");
	conf_take(parser);
	if (!conf_expect(parser, '*'))
		return false;
	prototype->slot_symbol = parse_name(parser, "the name of a data symbol");
	if (!prototype->slot_symbol || !parse_place(parser, &prototype->slot))
		return false;
	if (conf_at_mark(parser, '(')) {
		conf_take(parser);
		prototype->slot_is_getter = true;
		if (!conf_expect(parser, ')') || !parse_place(parser, &prototype->table))
			return false;
	}
	return is_over(parser) || conf_fail(parser, "';'");
}

static bool check_result(struct conf_parser *parser, const struct type *type,
			 const struct conf_token *token)
{
	if (type->kind == TYPE_FORMAT || type->needs_result ||
	    (type->kind == TYPE_STRUCT && !type->is_defined))
		return conf_fail_at(parser, token, "the type of a result");
	return true;
}

static bool parse_prototype(struct conf_parser *parser)
{
	const struct conf_token result_token = parser->token;
	const struct type *result = conf_parse_type(parser);
	struct prototype parsed = {.result = result};
	struct conf_parameters list;

	if (!result || !check_result(parser, result, &result_token))
		return false;
	result = parsed.result = conf_decay(parser, result);
	parsed.name = parse_name(parser, "the name of a function");
	if (!parsed.name || !conf_parse_parameters(parser, &list) || !parse_slot(parser, &parsed) ||
	    !conf_check_lengths(parser, &list, result, &result_token))
		return false;

	size_t size = list.count * sizeof list.items[0];
	struct parameter *parameters = protolib_alloc(parser->lib, size);
	struct prototype *prototype = protolib_alloc(parser->lib, sizeof *prototype);

	memcpy(parameters, list.items, size);
	*prototype = parsed;
	prototype->parameters = parameters;
	prototype->parameter_count = list.count;
	protolib_add(parser->lib, prototype);
	return true;
}

/*
 * A struct declared in advance gets its members: what refers to it, refers to it with them. Nobody
 * but the parser has seen the type so far.
 */
static bool define_struct(const struct type *declared, const struct type *type)
{
	if (!declared || declared->kind != TYPE_STRUCT || declared->is_defined ||
	    type->kind != TYPE_STRUCT || !type->is_defined)
		return false;
	*(struct type *)(uintptr_t)declared = *type;
	return true;
}

/* What a typedef names: a type, or `struct` alone, whose members come later. */
static const struct type *parse_named_type(struct conf_parser *parser)
{
	if (!conf_at_name(parser, "struct"))
		return conf_parse_type(parser);
	const struct conf_place place = conf_place_of(parser);

	conf_take(parser);
	if (is_over(parser)) {
		const struct type type = {.kind = TYPE_STRUCT};

		return conf_own(parser, &type);
	}
	conf_go_back(parser, &place);
	return conf_parse_type(parser);
}

/* What the file that is parsed has made of a name. */
static const char given, given_again;

/* A name that is given for a second time: the user may not know of the first. Said once. */
static void note_name(struct conf_parser *parser, const char *name, unsigned line)
{
	const size_t length = strlen(name);
	const char *before = names_get(&parser->given, name, length);
	char message[FOUND_MAX + 80];

	if (before == &given && parser->error) {
		snprintf(message, sizeof message,
			 "typedef '%.*s' is given again; the new one counts from here on",
			 FOUND_MAX, name);
		parser->error(parser->context, parser->file_name, line, message);
	}
	names_put(&parser->given, name, length, before ? &given_again : &given);
}

/*
 * Gives a type a name. Files that were written for an ltrace without long double say that it is a
 * double, and the like; the language has all of C's numbers, and these stay what they are.
 */
static void name_type(struct conf_parser *parser, const char *name, const struct type *type,
		      unsigned line)
{
	if (protolib_names_own_number(name) && protolib_is_own_number(type))
		return;
	if (define_struct(protolib_type(parser->lib, name, strlen(name)), type))
		return;
	note_name(parser, name, line);
	protolib_add_type(parser->lib, name, type);
}

static bool parse_typedef(struct conf_parser *parser)
{
	conf_take(parser);
	const unsigned line = parser->token.line;
	const char *name = parse_name(parser, "a name for a type");

	if (!name || !conf_expect(parser, '='))
		return false;
	const struct type *type = parse_named_type(parser);

	if (!type)
		return false;
	if (!is_over(parser))
		return conf_fail(parser, "';'");
	name_type(parser, name, type, line);
	return true;
}

/* Passes over the rest of a declaration: up to behind the next ';'. */
static void skip_declaration(struct conf_parser *parser)
{
	while (!conf_at_mark(parser, ';') && parser->token.kind != TOKEN_END &&
	       parser->token.kind != TOKEN_UNCLOSED)
		conf_take(parser);
	if (!conf_at_mark(parser, ';'))
		return;
	if (parser->token.first)
		conf_lexer_skip_line(&parser->lexer);
	conf_take(parser);
}

/* The rest of the line is a comment. */
static void skip_comment(struct conf_parser *parser)
{
	conf_lexer_skip_line(&parser->lexer);
	conf_take(parser);
}

/* `import` is next, and a text behind it. */
static bool parse_import(struct conf_parser *parser)
{
	conf_take(parser);
	const struct conf_token token = parser->token;

	if (token.kind != TOKEN_TEXT || token.length < 3)
		return conf_fail(parser, "the name of a file in quotes");
	const char *name = protolib_text(parser->lib, token.text + 1, token.length - 2);

	conf_take(parser);
	if (!is_over(parser))
		return conf_fail(parser, "';'");
	int status = protolib_import(parser->lib, parser->file_name, name, parser->error,
				     parser->context);

	if (status < 0)
		return conf_fail_at(parser, &token,
				    status == -ENOENT ? "a file that exists"
						      : "a file that can be read");
	parser->errors += status;
	return true;
}

/* Whether a declaration begins with this word of the language, which no type is called. */
static bool begins_with(const struct conf_parser *parser, const char *word)
{
	return conf_at_name(parser, word) && !protolib_type(parser->lib, word, strlen(word));
}

static bool parse_any(struct conf_parser *parser)
{
	if (begins_with(parser, "typedef"))
		return parse_typedef(parser);
	if (begins_with(parser, "import"))
		return parse_import(parser);
	if (begins_with(parser, "function"))
		conf_take(parser);
	return parse_prototype(parser);
}

static bool begins_declaration(const struct conf_parser *parser)
{
	const struct conf_token *token = &parser->token;

	return token->kind == TOKEN_NAME &&
	       (conf_at_name(parser, "typedef") || conf_at_name(parser, "import") ||
		conf_is_c_word(token) || conf_is_keyword(token) ||
		protolib_type(parser->lib, token->text, token->length));
}

/* What stands behind a ';' on its line is a comment, as all of it is to ltrace, or one more. */
static void end_declaration(struct conf_parser *parser)
{
	if (!conf_at_mark(parser, ';') || parser->token.first)
		return;
	conf_take(parser);
	if (!parser->token.first && parser->token.kind != TOKEN_END &&
	    parser->token.kind != TOKEN_UNCLOSED && !conf_at_mark(parser, ';') &&
	    !begins_declaration(parser))
		skip_comment(parser);
}

static void parse_declaration(struct conf_parser *parser)
{
	parser->levels = 0;
	parser->in_struct = false;
	if (!parse_any(parser))
		skip_declaration(parser);
	else
		end_declaration(parser);
}

/* All declarations of the file, of which the first token is looked at. */
static void parse_all(struct conf_parser *parser)
{
	while (parser->token.kind != TOKEN_END) {
		if (parser->token.kind == TOKEN_UNCLOSED) {
			if (!parser->said_unclosed)
				conf_fail(parser, "'*/'");
			break;
		}
		if (parser->errors >= ERRORS_MAX) {
			report(parser, parser->token.line, "too many errors, the rest is not read");
			break;
		}
		if (conf_at_mark(parser, ';'))
			skip_comment(parser);
		else
			parse_declaration(parser);
	}
}

int conf_parse(struct protolib *lib, const char *file_name, const char *text, size_t length,
	       conf_error *error, void *context)
{
	struct conf_parser parser = {
		.lib = lib,
		.file_name = file_name,
		.error = error,
		.context = context,
	};

	conf_lexer_init(&parser.lexer, text, length);
	conf_take(&parser);
	parse_all(&parser);
	names_deinit(&parser.given);
	return parser.errors;
}
