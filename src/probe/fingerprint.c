/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of SQL text: spacing, and signs and prefixes that belong to literals.
 *
 * There is no parser. Parsers of three databases in all their versions would be a project of its
 * own, and would fail on a text that was cut or has an extension's syntax. Tokens are enough, with
 * the knowledge whether an operand is expected (sql_lexer.c) and in which parentheses they are
 * (sql_lists.c).
 *
 * A sign or an introducer (_utf8) is written before it is known whether a literal follows. The
 * place in front is kept as a mark, and a literal that follows goes back to it.
 *
 * Blanks cannot be put where the text has none, since the shape must not become longer. So, for
 * texts to be equal that differ in white space only, blanks disappear where they are optional.
 * They stay between words and what looks like words, for the reader: nearly everybody writes
 * "SELECT * FROM" and ") ORDER", and who writes "SELECT*FROM" gets another shape.
 *
 * A blank also stays where two tokens would become another one without it: "- -" would be a
 * comment, "@ v" a variable. See fuse(); testsuite/fuzz/fuzz_sql.c looks for pairs that it does
 * not know.
 */
#include "probe/fingerprint.h"

#include "probe/sql_lexer.h"
#include "probe/sql_lists.h"

#include <string.h>

struct writer {
	struct sql_lists lists;
	enum sql_dialect dialect;
	struct sql_token last; /* what was written last; at first, a semicolon */
	size_t solid;	       /* the length without the semicolons at the end */
	bool has_mark;	       /* the last tokens are signs or an introducer */
	struct sql_mark mark;  /* in front of them */
	struct sql_token before_mark;
};

static bool is_sign(const struct sql_token *token)
{
	return token->kind == SQL_OPERATOR && token->length == 1 &&
	       (*token->text == '-' || *token->text == '+');
}

static bool is_unary_sign(const struct sql_token *token)
{
	return is_sign(token) && token->expects_operand;
}

static bool is_introducer(const struct sql_token *token)
{
	return token->kind == SQL_NAME && token->meaning & SQL_WORD_INTRODUCER;
}

static bool is_based_number(const struct sql_token *token)
{
	return token->kind == SQL_NUMBER && token->length > 2 && token->text[0] == '0' &&
	       strchr("xXbB", token->text[1]);
}

/* Returns true if the token belongs to the literal: a sign to a number, _utf8 to a string. */
static bool belongs_to(const struct sql_token *prefix, const struct sql_token *literal)
{
	if (is_introducer(prefix))
		return literal->kind == SQL_STRING || literal->kind == SQL_BITS ||
		       is_based_number(literal);
	return is_unary_sign(prefix) && literal->kind == SQL_NUMBER;
}

/* Returns true for tokens that keep a blank between them. */
static bool is_wordlike(const struct sql_token *token)
{
	return sql_is_literal(token) || token->kind == SQL_NAME || token->kind == SQL_QUOTED_NAME ||
	       token->kind == SQL_ALL_COLUMNS || token->kind == SQL_HINT;
}

static bool is_operator(const struct sql_token *token)
{
	return token->kind == SQL_OPERATOR || token->kind == SQL_CAST ||
	       token->kind == SQL_ALL_COLUMNS;
}

/* Returns true if a sign directly behind the operator is a token of its own in all dialects. */
static bool leaves_sign(const struct sql_token *operator)
{
	for (size_t i = 0; i < operator->length; i++)
		if (!strchr("=<>*/", operator->text[i]))
			return false;
	return true;
}

/* Returns true if the operator and the name behind it are read as one token. */
static bool makes_name(enum sql_dialect dialect, const struct sql_token *operator)
{
	static const char *const ends[] = {
		[SQL_MYSQL] = "@", [SQL_POSTGRESQL] = "$", [SQL_SQLITE] = ":@$"};
	char end = operator->text[operator->length - 1];

	return end && strchr(ends[dialect], end);
}

static bool has_digit_first(const struct sql_token *name)
{
	return name->kind == SQL_NAME && *name->text >= '0' && *name->text <= '9';
}

/* Returns true if two tokens would not be read as they are without a blank between them. */
static bool fuse(enum sql_dialect dialect, const struct sql_token *left,
		 const struct sql_token *right)
{
	if (is_operator(left) && is_operator(right))
		return !(is_sign(right) && leaves_sign(left));
	if (is_operator(left) && (right->kind == SQL_HINT || right->kind == SQL_HINT_END))
		return true;
	if ((has_digit_first(left) && is_sign(right)) || (is_sign(left) && has_digit_first(right)))
		return true; /* 1e + 2a would begin with the number 1e+2 */
	if (left->kind == SQL_NAME && right->kind == SQL_OPERATOR)
		return *right->text == '$';
	if (left->kind == SQL_NAME && right->kind == SQL_DOT) /* @a.b is one variable */
		return *left->text == '@';
	if (left->kind == SQL_DOT && has_digit_first(right)) /* .1a is .1 and a */
		return true;
	if (left->kind != SQL_OPERATOR)
		return false;
	if (right->kind == SQL_QUOTED_NAME && left->text[left->length - 1] == '&') /* U&"a" */
		return true;
	return makes_name(dialect, left) &&
	       (right->kind == SQL_NAME || right->kind == SQL_QUOTED_NAME ||
		right->kind == SQL_DOT);
}

/* Returns true for an operator in front of its operand, which looks better apart from the word. */
static bool is_prefix(const struct sql_token *last, const struct sql_token *token)
{
	return last->kind == SQL_NAME && token->kind == SQL_OPERATOR && token->expects_operand;
}

static bool wants_blank(const struct writer *writer, const struct sql_token *token)
{
	const struct sql_token *last = &writer->last;

	if (!token->blank_before)
		return false;
	if (last->kind == SQL_HINT)
		return true;
	if ((is_wordlike(last) || last->kind == SQL_CLOSE || last->kind == SQL_HINT_END) &&
	    is_wordlike(token))
		return true;
	return is_prefix(last, token) || fuse(writer->dialect, last, token);
}

/*
 * Goes back to in front of the prefix of a literal. That makes room for a blank, which the text
 * does not need: "SELECT-1".
 */
static void take_prefix_back(struct writer *writer, struct sql_token *literal)
{
	sql_lists_take_back(&writer->lists, &writer->mark);
	writer->last = writer->before_mark;
	literal->blank_before = true;
}

/* Keeps the place in front of a sign or an introducer. The first of several signs counts. */
static void mark_prefix(struct writer *writer, const struct sql_token *token)
{
	bool goes_on = writer->has_mark && is_unary_sign(token) && is_unary_sign(&writer->last);

	if (!goes_on) {
		writer->mark = sql_lists_mark(&writer->lists);
		writer->before_mark = writer->last;
	}
	writer->has_mark = true;
}

static void write_token(struct writer *writer, struct sql_token *token)
{
	if (writer->has_mark && belongs_to(&writer->last, token))
		take_prefix_back(writer, token);
	if (is_unary_sign(token) || is_introducer(token))
		mark_prefix(writer, token);
	else
		writer->has_mark = false;
	if (writer->last.kind == SQL_NAME && token->length > 1 && sql_is_literal(token))
		token->blank_before = true;
	if (wants_blank(writer, token))
		writer->lists.shape[writer->lists.length++] = ' ';
	sql_lists_write(&writer->lists, token, &writer->last);
	if (token->kind != SQL_SEMICOLON)
		writer->solid = writer->lists.length;
	writer->last = *token;
}

/* Returns true if the string continues the string in front of it. In SQLite it is an alias. */
static bool is_continuation(const struct writer *writer, const struct sql_token *token)
{
	return token->kind == SQL_STRING && writer->last.kind == SQL_STRING &&
	       writer->dialect != SQL_SQLITE;
}

static void write_cut(struct writer *writer)
{
	struct sql_lists *lists = &writer->lists;

	if (writer->has_mark && is_unary_sign(&writer->last))
		sql_lists_take_back(lists, &writer->mark);
	sql_lists_cut(lists);
	memcpy(lists->shape + lists->length, "...", 3);
	lists->length += 3;
}

size_t fingerprint(enum sql_dialect dialect, const char *text, size_t length, bool cut, char *shape)
{
	struct writer writer = {.dialect = dialect, .last = {.kind = SQL_SEMICOLON}};
	struct sql_lexer lexer;
	struct sql_token token;

	sql_lists_init(&writer.lists, shape);
	sql_lexer_init(&lexer, dialect, text, length, cut);
	for (;;) {
		sql_lexer_next(&lexer, &token);
		if (token.kind == SQL_END)
			break;
		if (!is_continuation(&writer, &token))
			write_token(&writer, &token);
	}
	if (cut)
		write_cut(&writer);
	else
		writer.lists.length = writer.solid;
	shape[writer.lists.length] = '\0';
	return writer.lists.length;
}
