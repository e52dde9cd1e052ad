/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses expressions.
 *
 * The parser is one of recursive descent, with one function for all binary operators, which go by
 * their precedence. What it makes is a tree of nodes; a node knows its column, so that mistakes
 * that are found later can be shown where they are. The depth of the tree is bounded, because those
 * who evaluate it recurse, too.
 *
 * Types of constants are checked here: "a" + 1 is wrong whatever is traced. What parameters are is
 * only known from prototypes (expression_fit.c).
 */
#include "probe/expression.h"

#include "base/xalloc.h"
#include "probe/expression_lexer.h"
#include "probe/fingerprint.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 200, NODES_MAX = 2000, ARGUMENT_MAX = 32 };

struct parser {
	struct expression_lexer lexer;
	unsigned depth, nodes;
	struct expression_error *error;
	bool has_failed;
};

static const char *const names[] = {
	[NAME_ARGUMENT] = "", /* arg1 …, and all words that are none of these */
	[NAME_RESULT] = "result",     [NAME_ERRNO] = "errno",	[NAME_DURATION] = "duration",
	[NAME_FUNCTION] = "function", [NAME_MODULE] = "module", [NAME_CALLER] = "caller",
	[NAME_PID] = "pid",	      [NAME_TID] = "tid",	[NAME_COMM] = "comm",
	[NAME_TIME] = "time",	      [NAME_DEPTH] = "depth",	[NAME_LINE] = "line",
	[NAME_FILE] = "file",	      [NAME_STACK] = "stack",
};

static const struct {
	const char *name;
	unsigned least, most; /* number of arguments */
} functions[] = {
	[FUNCTION_LOG2] = {"log2", 1, 1},
	[FUNCTION_BUCKET] = {"bucket", 2, 2},
	[FUNCTION_LEN] = {"len", 1, 1},
	[FUNCTION_PREFIX] = {"prefix", 2, 2},
	[FUNCTION_FINGERPRINT] = {"fingerprint", 1, 2},
};

const char *expression_name_text(enum expression_name name)
{
	return names[name];
}

void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	for (unsigned i = 0; i < expression->part_count; i++)
		expression_free(expression->parts[i]);
	for (size_t i = 0; i < expression->steps.count; i++)
		free(((struct expression_step *)vec_at(&expression->steps, i))->member);
	vec_deinit(&expression->steps);
	if (expression->regex)
		regfree(expression->regex);
	free(expression->regex);
	free(expression->text);
	free(expression);
}

void expression_list_free(struct vec *list)
{
	for (size_t i = 0; i < list->count; i++)
		expression_free(*(struct expression **)vec_at(list, i));
	vec_deinit(list);
}

/* ------------------------------------------------------------------ mistakes */

/* Keeps the first mistake. Returns NULL. */
static struct expression *fail(struct parser *parser, size_t column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static struct expression *fail(struct parser *parser, size_t column, const char *format, ...)
{
	char message[256];
	va_list arguments;

	if (parser->has_failed)
		return NULL;
	parser->has_failed = true;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	*parser->error = (struct expression_error){column, xstrdup(message)};
	return NULL;
}

static void next(struct parser *parser)
{
	expression_lexer_next(&parser->lexer);
	if (parser->lexer.error)
		fail(parser, parser->lexer.column, "%s", parser->lexer.error);
}

static bool is_at(const struct parser *parser, enum expression_token token)
{
	return !parser->has_failed && parser->lexer.token == token;
}

/* Returns true, and goes on, if the present token is this one. */
static bool take(struct parser *parser, enum expression_token token)
{
	if (!is_at(parser, token))
		return false;
	next(parser);
	return true;
}

static bool expect(struct parser *parser, enum expression_token token, const char *what)
{
	if (take(parser, token))
		return true;
	fail(parser, parser->lexer.column, "expected %s", what);
	return false;
}

/* ------------------------------------------------------------------ nodes */

static struct expression *make(struct parser *parser, enum expression_kind kind, size_t column)
{
	if (++parser->nodes > NODES_MAX)
		return fail(parser, column, "the expression is too long");
	struct expression *made = xcalloc(1, sizeof *made);

	made->kind = kind;
	made->column = column;
	vec_init(&made->steps, sizeof(struct expression_step));
	return made;
}

/* Makes a node with these parts, which it owns; frees them on a mistake. */
static struct expression *join(struct parser *parser, enum expression_kind kind, size_t column,
			       struct expression *first, struct expression *second,
			       struct expression *third)
{
	struct expression *made = first && !parser->has_failed ? make(parser, kind, column) : NULL;

	if (!made) {
		expression_free(first);
		expression_free(second);
		expression_free(third);
		return NULL;
	}
	made->parts[0] = first;
	made->parts[1] = second;
	made->parts[2] = third;
	made->part_count = third ? 3 : second ? 2 : 1;
	return made;
}

static bool is_text(const struct expression *expression)
{
	return expression->kind == EXPRESSION_CONSTANT && expression->value.type == EXPRESSION_TEXT;
}

/* ------------------------------------------------------------------ operands */

static struct expression *parse_choice(struct parser *parser);

static struct expression *parse_number(struct parser *parser)
{
	struct expression *made = make(parser, EXPRESSION_CONSTANT, parser->lexer.column);

	if (made)
		made->value = parser->lexer.value;
	next(parser);
	return made;
}

static struct expression *parse_text(struct parser *parser)
{
	struct expression *made = make(parser, EXPRESSION_CONSTANT, parser->lexer.column);
	const struct strbuf *text = &parser->lexer.text;

	if (made) {
		made->text = xmalloc(text->length + 1);
		if (text->length)
			memcpy(made->text, text->text, text->length);
		made->text[text->length] = '\0';
		made->value = expression_text(made->text, text->length);
	}
	next(parser);
	return made;
}

/* The dialect of fingerprint() is known when it is parsed. */
static void check_dialect(struct parser *parser, const struct expression *function)
{
	const struct expression *dialect = function->part_count > 1 ? function->parts[1] : NULL;
	enum sql_dialect known;

	if (function->function == FUNCTION_FINGERPRINT && dialect &&
	    (!is_text(dialect) || !sql_dialect_find(dialect->text, &known)))
		fail(parser, dialect->column, "expected \"mysql\", \"postgresql\" or \"sqlite\"");
}

static struct expression *parse_function(struct parser *parser, enum expression_function function,
					 size_t column)
{
	struct expression *made = make(parser, EXPRESSION_FUNCTION, column);

	if (!made)
		return NULL;
	made->function = function;
	next(parser); /* behind the '(' */
	while (!parser->has_failed && !is_at(parser, TOKEN_CLOSE)) {
		struct expression *part = parse_choice(parser);

		if (part && made->part_count == functions[function].most) {
			fail(parser, part->column, "%s() has at most %u argument%s",
			     functions[function].name, functions[function].most,
			     functions[function].most == 1 ? "" : "s");
			expression_free(part);
		} else if (part) {
			made->parts[made->part_count++] = part;
		}
		if (!take(parser, TOKEN_COMMA))
			break;
	}
	check_dialect(parser, made);
	if (expect(parser, TOKEN_CLOSE, "')'") && made->part_count < functions[function].least)
		fail(parser, column, "%s() needs %u argument%s", functions[function].name,
		     functions[function].least, functions[function].least == 1 ? "" : "s");
	return made;
}

/* arg1 to arg32. Returns 0 for another word. */
static unsigned argument_number(const char *word, size_t length)
{
	unsigned number = 0;

	if (length < 4 || length > 5 || memcmp(word, "arg", 3) != 0 || word[3] == '0')
		return 0;
	for (size_t i = 3; i < length; i++) {
		if (!isdigit((unsigned char)word[i]))
			return 0;
		number = number * 10 + (unsigned)(word[i] - '0');
	}
	return number;
}

static void name_node(struct expression *made, const char *word, size_t length)
{
	made->name = NAME_ARGUMENT;
	made->number = argument_number(word, length);
	for (unsigned i = NAME_RESULT; i < EXPRESSION_NAMES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], word, length))
			made->name = (enum expression_name)i;
	if (made->name == NAME_ARGUMENT && !made->number) {
		made->text = xmalloc(length + 1);
		memcpy(made->text, word, length);
		made->text[length] = '\0';
	}
}

/* ->MEMBER, .MEMBER, [INDEX] */
static void parse_step(struct parser *parser, struct expression *of)
{
	struct expression_step step = {.is_arrow = is_at(parser, TOKEN_ARROW)};
	const bool is_member = step.is_arrow || is_at(parser, TOKEN_DOT);
	const size_t column = parser->lexer.column;

	next(parser);
	if (of->name != NAME_ARGUMENT && of->name != NAME_RESULT) {
		fail(parser, column, "%s has no members", names[of->name]);
		return;
	}
	if (is_member && is_at(parser, TOKEN_NAME)) {
		step.member = xmalloc(parser->lexer.text.length + 1);
		memcpy(step.member, parser->lexer.text.text, parser->lexer.text.length);
		step.member[parser->lexer.text.length] = '\0';
	} else if (!is_member && is_at(parser, TOKEN_NUMBER) &&
		   parser->lexer.value.type == EXPRESSION_SIGNED) {
		step.index = parser->lexer.value.number;
	} else {
		fail(parser, parser->lexer.column, "expected %s",
		     is_member ? "the name of a member" : "the number of an element");
		return;
	}
	vec_push(&of->steps, &step);
	next(parser);
	if (!is_member)
		expect(parser, TOKEN_CLOSE_INDEX, "']'");
}

static struct expression *parse_name(struct parser *parser)
{
	const size_t column = parser->lexer.column;
	char word[64];

	if (parser->lexer.text.length >= sizeof word)
		return fail(parser, column, "the name is too long");
	memcpy(word, parser->lexer.text.text, parser->lexer.text.length);
	word[parser->lexer.text.length] = '\0';
	next(parser);
	if (is_at(parser, TOKEN_OPEN)) {
		for (unsigned i = 0; i < EXPRESSION_FUNCTIONS; i++)
			if (!strcmp(functions[i].name, word))
				return parse_function(parser, (enum expression_function)i, column);
		return fail(parser, column, "there is no function %s()", word);
	}
	struct expression *made = make(parser, EXPRESSION_NAME, column);

	if (!made)
		return NULL;
	name_node(made, word, strlen(word));
	if (made->number > ARGUMENT_MAX)
		fail(parser, column, "there are at most %d arguments", ARGUMENT_MAX);
	while (is_at(parser, TOKEN_ARROW) || is_at(parser, TOKEN_DOT) ||
	       is_at(parser, TOKEN_OPEN_INDEX))
		parse_step(parser, made);
	return made;
}

static struct expression *parse_one(struct parser *parser);

/* An operator in front of its operand. */
static struct expression *parse_prefix(struct parser *parser)
{
	const size_t column = parser->lexer.column;
	const enum expression_operator op = parser->lexer.op;

	next(parser);
	struct expression *operand = parse_one(parser);

	if (operand && op != OPERATOR_NOT && is_text(operand))
		fail(parser, operand->column, "expected a number, found a text");
	if (op == OPERATOR_PLUS)
		return operand;
	struct expression *made = join(parser, EXPRESSION_ONE, column, operand, NULL, NULL);

	if (made)
		made->op = op == OPERATOR_MINUS ? OPERATOR_NEGATE : op;
	return made;
}

static struct expression *parse_one(struct parser *parser)
{
	struct expression *made;

	if (parser->has_failed)
		return NULL;
	if (++parser->depth > DEPTH_MAX)
		return fail(parser, parser->lexer.column, "the expression is nested too deeply");
	switch (parser->lexer.token) {
	case TOKEN_NUMBER:
		made = parse_number(parser);
		break;
	case TOKEN_TEXT:
		made = parse_text(parser);
		break;
	case TOKEN_NAME:
		made = parse_name(parser);
		break;
	case TOKEN_OPEN:
		next(parser);
		made = parse_choice(parser);
		expect(parser, TOKEN_CLOSE, "')'");
		break;
	case TOKEN_OPERATOR:
		if (parser->lexer.op == OPERATOR_NOT || parser->lexer.op == OPERATOR_BIT_NOT ||
		    parser->lexer.op == OPERATOR_MINUS || parser->lexer.op == OPERATOR_PLUS) {
			made = parse_prefix(parser);
			break;
		}
		/* fall through */
	default:
		made = fail(parser, parser->lexer.column,
			    "expected a number, a text, a name or '('");
	}
	parser->depth--;
	return made;
}

/* ------------------------------------------------------------------ operators */

/* Larger numbers bind more tightly. 0: the operator has one operand. */
static unsigned precedence_of(enum expression_operator op)
{
	static const uint8_t precedences[] = {
		[OPERATOR_OR] = 1,	  [OPERATOR_AND] = 2,	     [OPERATOR_BIT_OR] = 3,
		[OPERATOR_BIT_XOR] = 4,	  [OPERATOR_BIT_AND] = 5,    [OPERATOR_EQUAL] = 6,
		[OPERATOR_NOT_EQUAL] = 6, [OPERATOR_MATCHES] = 6,    [OPERATOR_NOT_MATCHES] = 6,
		[OPERATOR_LESS] = 7,	  [OPERATOR_AT_MOST] = 7,    [OPERATOR_GREATER] = 7,
		[OPERATOR_AT_LEAST] = 7,  [OPERATOR_LEFT] = 8,	     [OPERATOR_RIGHT] = 8,
		[OPERATOR_PLUS] = 9,	  [OPERATOR_MINUS] = 9,	     [OPERATOR_TIMES] = 10,
		[OPERATOR_DIVIDE] = 10,	  [OPERATOR_REMAINDER] = 10, [OPERATOR_NEGATE] = 0,
	};

	return precedences[op];
}

static bool matches(enum expression_operator op)
{
	return op == OPERATOR_MATCHES || op == OPERATOR_NOT_MATCHES;
}

static bool compares(enum expression_operator op)
{
	return op >= OPERATOR_EQUAL && op <= OPERATOR_AT_LEAST;
}

/* Compiles the regular expression on the right of =~. */
static void compile(struct parser *parser, struct expression *made)
{
	const struct expression *pattern = made->parts[1];
	char reason[128];

	if (!is_text(pattern)) {
		fail(parser, pattern->column,
		     "expected a regular expression in double quotes behind =~");
		return;
	}
	made->regex = xcalloc(1, sizeof *made->regex);
	const int error = regcomp(made->regex, pattern->text, REG_EXTENDED | REG_NOSUB);

	if (!error)
		return;
	regerror(error, made->regex, reason, sizeof reason);
	free(made->regex);
	made->regex = NULL;
	fail(parser, pattern->column, "the regular expression is wrong: %s", reason);
}

/* Numbers and constant texts do not go together. */
static void check_types(struct parser *parser, const struct expression *made)
{
	const struct expression *left = made->parts[0], *right = made->parts[1];

	if (matches(made->op) || made->op == OPERATOR_AND || made->op == OPERATOR_OR)
		return;
	if (!compares(made->op) && (is_text(left) || is_text(right)))
		fail(parser, (is_text(left) ? left : right)->column,
		     "expected a number, found a text");
	else if ((is_text(left) && right->kind == EXPRESSION_CONSTANT && !is_text(right)) ||
		 (is_text(right) && left->kind == EXPRESSION_CONSTANT && !is_text(left)))
		fail(parser, right->column, "a number and a text cannot be compared");
}

/* Operands with operators of at least that precedence in between. */
static struct expression *parse_two(struct parser *parser, unsigned least)
{
	struct expression *left = parse_one(parser);

	while (is_at(parser, TOKEN_OPERATOR)) {
		const enum expression_operator op = parser->lexer.op;
		const unsigned precedence = precedence_of(op);
		const size_t column = parser->lexer.column;

		if (!precedence || precedence < least)
			break;
		next(parser);
		struct expression *right = parse_two(parser, precedence + 1);

		if (!right)
			break;
		left = join(parser, EXPRESSION_TWO, column, left, right, NULL);
		if (!left)
			break;
		left->op = op;
		if (matches(op))
			compile(parser, left);
		check_types(parser, left);
	}
	return left;
}

static struct expression *parse_choice(struct parser *parser)
{
	if (++parser->depth > DEPTH_MAX)
		return fail(parser, parser->lexer.column, "the expression is nested too deeply");
	struct expression *made = parse_two(parser, 1);
	const size_t column = parser->lexer.column;

	if (take(parser, TOKEN_QUESTION)) {
		struct expression *then = parse_choice(parser), *otherwise = NULL;

		if (expect(parser, TOKEN_COLON, "':'"))
			otherwise = parse_choice(parser);
		made = join(parser, EXPRESSION_CHOICE, column, made, then, otherwise);
	}
	parser->depth--;
	return made;
}

/* ------------------------------------------------------------------ whole expressions */

static bool parse_all(struct parser *parser, struct vec *list, bool several)
{
	next(parser);
	do {
		struct expression *made = parse_choice(parser);

		if (made)
			vec_push(list, &made);
	} while (several && take(parser, TOKEN_COMMA));
	if (!parser->has_failed && !is_at(parser, TOKEN_END))
		fail(parser, parser->lexer.column, "expected an operator%s or the end",
		     several ? ", a comma" : "");
	expression_lexer_deinit(&parser->lexer);
	if (parser->has_failed)
		expression_list_free(list);
	return !parser->has_failed;
}

bool expression_parse_list(const char *text, struct vec *list, struct expression_error *error)
{
	struct parser parser = {.error = error};

	expression_lexer_init(&parser.lexer, text);
	return parse_all(&parser, list, true);
}

struct expression *expression_parse(const char *text, struct expression_error *error)
{
	struct parser parser = {.error = error};
	struct vec list = VEC_OF(struct expression *);

	expression_lexer_init(&parser.lexer, text);
	if (!parse_all(&parser, &list, false))
		return NULL;
	struct expression *made = *(struct expression **)vec_at(&list, 0);

	vec_deinit(&list);
	return made;
}

/* ------------------------------------------------------------------ what it is about */

bool expression_has_name(const struct expression *expression, enum expression_name name)
{
	bool has_it = expression->kind == EXPRESSION_NAME && expression->name == name;

	for (unsigned i = 0; i < expression->part_count && !has_it; i++)
		has_it = expression_has_name(expression->parts[i], name);
	return has_it;
}

/* Returns true if the part with that number is used as text, where the whole is, or not. */
static bool part_is_text(const struct expression *expression, unsigned part, bool is_shown)
{
	switch (expression->kind) {
	case EXPRESSION_TWO:
		return matches(expression->op) ||
		       (compares(expression->op) &&
			(is_text(expression->parts[!part]) ||
			 expression->parts[!part]->kind != EXPRESSION_CONSTANT));
	case EXPRESSION_CHOICE:
		return part > 0 && is_shown;
	case EXPRESSION_FUNCTION:
		return expression->function >= FUNCTION_LEN;
	default:
		return false;
	}
}

bool expression_wants_text(const struct expression *expression, bool is_shown)
{
	bool wants_one = is_shown && expression->kind == EXPRESSION_NAME &&
			 (expression->name == NAME_ARGUMENT || expression->name == NAME_RESULT);

	for (unsigned i = 0; i < expression->part_count && !wants_one; i++)
		wants_one = expression_wants_text(expression->parts[i],
						  part_is_text(expression, i, is_shown));
	return wants_one;
}

bool expression_is_of_entry(const struct expression *expression)
{
	return !expression_has_name(expression, NAME_RESULT) &&
	       !expression_has_name(expression, NAME_ERRNO) &&
	       !expression_has_name(expression, NAME_DURATION);
}
