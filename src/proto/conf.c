/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files, by recursive descent:
 *
 *   file        = { declaration ( ";" | end of the line ) }
 *   declaration = "typedef" NAME "=" ( type | "struct" )
 *               | "import" TEXT
 *               | "span" …
 *               | [ "function" ] type NAME "(" [ "void" | parameter { "," parameter } ] ")"
 *                 [ "fails" "(" EXPRESSION ")" ] [ slot ]
 *   slot        = "@" "*" NAME place [ "(" ")" place ]
 *   place       = [ "+" NUMBER ] [ "[" NUMBER "]" ]
 *
 * Parameters are parsed in conf_parameter.c, types in conf_type.c and conf_compound.c, spans in
 * conf_span.c. The parser looks one token ahead. A declaration enters the library only when it has
 * been parsed to its end. After an error everything up to the next ';' is skipped, so each broken
 * declaration is reported once and the others are used.
 *
 * A declaration may continue on several lines. It ends at the end of a line where it can end, as
 * ltrace has one declaration per line and does not require ';'. A ';' ends a declaration. Behind a
 * declaration, or as the first mark on a line, a ';' begins a comment.
 *
 * Files are the user's, but nothing in them can do damage: time and memory grow linearly with their
 * size, names and numbers of any length cause no overflow, and text that is quoted in a message is
 * escaped and cut.
 */
#include "proto/conf.h"

#include "proto/conf_compound.h"
#include "proto/conf_parameter.h"
#include "proto/conf_span.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	ERRORS_MAX = 50, /* after so many errors the file is taken for something else */
	FOUND_MAX = 40	 /* bytes of the text that are quoted in a message */
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

/* Writes the token as a user would call it. */
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

/* Takes a name and returns a copy. Without a name, reports an error and returns NULL. */
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

bool conf_is_over(const struct conf_parser *parser)
{
	return conf_at_mark(parser, ';') || parser->token.kind == TOKEN_END ||
	       (parser->token.first && parser->token.kind != TOKEN_UNCLOSED);
}

/* Parses the distance from the beginning of a table: `+OFFSET`, `[INDEX]`, both or neither. */
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
 * Parses what follows the parameters up to the end of the declaration: `@ *SYMBOL[INDEX]`, or `@
 * *SYMBOL[INDEX]()[INDEX]` where the first word is the address of a function that returns the
 * table.
 */
static bool parse_slot(struct conf_parser *parser, struct prototype *prototype)
{
	if (conf_at_name(parser, "fails") && !conf_is_over(parser)) {
		prototype->fails = conf_parse_fails(parser);
		if (!prototype->fails)
			return false;
	}
	if (!conf_at_mark(parser, '@'))
		return conf_is_over(parser) || conf_fail(parser, "';' or '@'");
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
	return conf_is_over(parser) || conf_fail(parser, "';'");
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
 * Fills in a struct that was declared in advance; types that refer to it then have its members.
 * Only the parser has used the type so far, so it may change.
 */
static bool define_struct(const struct type *declared, const struct type *type)
{
	if (!declared || declared->kind != TYPE_STRUCT || declared->is_defined ||
	    type->kind != TYPE_STRUCT || !type->is_defined)
		return false;
	*(struct type *)(uintptr_t)declared = *type;
	return true;
}

/* Parses the type of a typedef: a type, or `struct` alone, whose members come later. */
static const struct type *parse_named_type(struct conf_parser *parser)
{
	if (!conf_at_name(parser, "struct"))
		return conf_parse_type(parser);
	const struct conf_place place = conf_place_of(parser);

	conf_take(parser);
	if (conf_is_over(parser)) {
		const struct type type = {.kind = TYPE_STRUCT};

		return conf_own(parser, &type);
	}
	conf_go_back(parser, &place);
	return conf_parse_type(parser);
}

/* Values in `given`: the file has defined the name once, or more than once. */
static const char given, given_again;

/* Warns, once per name, that a typedef replaces another one of the same file. */
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
 * Gives a type a name. Files that were written for an ltrace without long double define it as
 * double, and do so with other numbers of C, too. The .conf language has all numbers of C, so these
 * definitions are ignored.
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
	if (!conf_is_over(parser))
		return conf_fail(parser, "';'");
	name_type(parser, name, type, line);
	return true;
}

/* Skips the rest of a declaration and the next ';'. */
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

/* Skips the rest of the line, which is a comment. */
static void skip_comment(struct conf_parser *parser)
{
	conf_lexer_skip_line(&parser->lexer);
	conf_take(parser);
}

/* Parses `import` and the name of a file, and reads the file. */
static bool parse_import(struct conf_parser *parser)
{
	conf_take(parser);
	const struct conf_token token = parser->token;

	if (token.kind != TOKEN_TEXT || token.length < 3)
		return conf_fail(parser, "the name of a file in quotes");
	const char *name = protolib_text(parser->lib, token.text + 1, token.length - 2);

	conf_take(parser);
	if (!conf_is_over(parser))
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

/*
 * Returns true if the declaration begins with this word of the language, and no type has that name.
 */
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
	if (begins_with(parser, "span"))
		return conf_parse_span(parser);
	if (begins_with(parser, "function"))
		conf_take(parser);
	return parse_prototype(parser);
}

static bool begins_declaration(const struct conf_parser *parser)
{
	const struct conf_token *token = &parser->token;

	return token->kind == TOKEN_NAME &&
	       (conf_at_name(parser, "typedef") || conf_at_name(parser, "import") ||
		conf_at_name(parser, "span") || conf_is_c_word(token) || conf_is_keyword(token) ||
		protolib_type(parser->lib, token->text, token->length));
}

/*
 * Takes the ';' of a declaration. If another declaration follows on the line, it is parsed;
 * anything else on the line is a comment, as it is for ltrace.
 */
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

/* Parses all declarations of the file. The first token is the next one. */
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
