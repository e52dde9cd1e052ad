/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of SQL, by the rules of three databases.
 *
 * The dialects differ in what the same bytes are, so the dialect must be known first:
 *
 *	"a"	a string in MySQL, a name elsewhere
 *	`a`	a name in MySQL and SQLite; in PostgreSQL '`' is an operator
 *	[a]	a name in SQLite, a subscript in PostgreSQL
 *	#	begins a comment in MySQL; an operator in PostgreSQL
 *	--	begins a comment; in MySQL only with white space (or the end) behind it: 5--1 is 6
 *	@v	a variable in MySQL, which is a name; a placeholder in SQLite; an operator and a
 *		name in PostgreSQL
 *	$1	a placeholder in PostgreSQL and SQLite; a name in MySQL
 *	1a	a name in MySQL; a number and a name elsewhere
 *	'\'	one string where a backslash has no meaning; not closed in MySQL and in E'\'
 *
 * Two decisions need to know whether an operand or an operator is expected, which follows from the
 * token in front (keywords: see sql_words.c):
 *
 *	*	all columns where an operand is expected
 *	.5	a number; but directly behind a name the '.' separates names, and what follows is a
 *		name even if it has digits only (MySQL). In PostgreSQL and SQLite, "AND.5" is a
 *		number.
 *
 * Operators of MySQL and SQLite are the longest in a list. Those of PostgreSQL are runs of operator
 * characters, of which a '+' or '-' at the end is another operator, unless the run has one of
 * ~!@#%^&|` in it. So "a=-1" has a sign there, and "a@-1" has not.
 *
 * A '?' of PostgreSQL is an operator of jsonb, or a part of one (?|, @?). But drivers write
 * placeholders so, and it is what literals become in a shape, and the shape of a shape has to be
 * the same shape. So it is always a token of its own, and a placeholder: only its spacing depends
 * on that.
 *
 * White space and comments are skipped, but for the comments that a database reads. A hint is one
 * token. A '!' comment of MySQL is code: its beginning and its end are tokens, and what is between
 * them is read like all SQL.
 */
#include "probe/sql_lexer.h"

#include "probe/sql_literals.h"

#include <string.h>

void sql_lexer_init(struct sql_lexer *lexer, enum sql_dialect dialect, const char *text,
		    size_t length, bool cut)
{
	*lexer = (struct sql_lexer){.dialect = dialect,
				    .cut = cut,
				    .at = text,
				    .end = text + length,
				    .last = SQL_SEMICOLON,
				    .expects_operand = true};
}

/* Returns the byte at the distance `ahead`, or NUL behind the end. */
static char peek(const struct sql_lexer *lexer, size_t ahead)
{
	return ahead < (size_t)(lexer->end - lexer->at) ? lexer->at[ahead] : '\0';
}

static bool is_at(const struct sql_lexer *lexer, const char *text)
{
	size_t length = strlen(text);

	return length <= (size_t)(lexer->end - lexer->at) && !memcmp(lexer->at, text, length);
}

static bool is_mysql_code(const struct sql_lexer *lexer)
{
	return lexer->dialect == SQL_MYSQL && (is_at(lexer, "/*!") || is_at(lexer, "/*M!"));
}

static bool is_hint(const struct sql_lexer *lexer)
{
	return lexer->dialect != SQL_SQLITE && is_at(lexer, "/*+");
}

static bool is_line_comment(const struct sql_lexer *lexer)
{
	char behind = peek(lexer, 2);

	if (peek(lexer, 0) == '#')
		return lexer->dialect == SQL_MYSQL;
	return is_at(lexer, "--") && (lexer->dialect != SQL_MYSQL ||
				      (behind >= '\0' && behind <= ' ') || behind == '\x7f');
}

/* Skips white space and comments. Returns false if there are none. */
static bool skip_blanks(struct sql_lexer *lexer)
{
	const char *start = lexer->at;

	while (lexer->at < lexer->end) {
		if (sql_is_blank(*lexer->at))
			lexer->at++;
		else if (is_line_comment(lexer))
			lexer->at = sql_line_end(lexer->at, lexer->end);
		else if (is_at(lexer, "/*") && !is_mysql_code(lexer) && !is_hint(lexer))
			lexer->at = sql_comment_end(lexer->at, lexer->end,
						    lexer->dialect == SQL_POSTGRESQL);
		else
			break;
	}
	return lexer->at > start;
}

/* Returns the end of the beginning of a '!' comment: up to six digits of a version belong to it. */
static const char *code_comment_start(const struct sql_lexer *lexer)
{
	size_t length = is_at(lexer, "/*M!") ? 4 : 3;
	size_t digits = 0;

	while (digits < 6 && sql_is_digit(peek(lexer, length + digits)))
		digits++;
	return lexer->at + length + digits;
}

/* Takes a comment that the database reads. Returns NULL if none begins or ends here. */
static const char *take_hint(struct sql_lexer *lexer, struct sql_token *token)
{
	if (lexer->in_executable && is_at(lexer, "*/")) {
		lexer->in_executable = false;
		token->kind = SQL_HINT_END;
		return lexer->at + 2;
	}
	token->kind = SQL_HINT;
	if (is_mysql_code(lexer)) {
		lexer->in_executable = true;
		return code_comment_start(lexer);
	}
	if (is_hint(lexer))
		return sql_comment_end(lexer->at, lexer->end, lexer->dialect == SQL_POSTGRESQL);
	return NULL;
}

static const char *take_string(struct sql_lexer *lexer, struct sql_token *token, size_t prefix,
			       bool has_escapes)
{
	token->kind = SQL_STRING;
	lexer->has_escapes = has_escapes;
	return sql_quoted_end(lexer->at + prefix, lexer->end, lexer->at[prefix], has_escapes);
}

static const char *take_bits(const struct sql_lexer *lexer, struct sql_token *token)
{
	token->kind = SQL_BITS;
	return sql_quoted_end(lexer->at + 1, lexer->end, '\'', false);
}

/* Takes what begins with a letter and a quote. Returns NULL if it is no such thing. */
static const char *take_prefixed(struct sql_lexer *lexer, struct sql_token *token)
{
	char prefix = (char)(peek(lexer, 0) | 0x20); /* a small letter */
	char quote = peek(lexer, 1);
	bool in_postgresql = lexer->dialect == SQL_POSTGRESQL;

	if (in_postgresql && prefix == 'u' && quote == '&') {
		if (peek(lexer, 2) == '\'')
			return take_string(lexer, token, 2, false);
		token->kind = SQL_QUOTED_NAME;
		return peek(lexer, 2) == '"' ? sql_quoted_end(lexer->at + 2, lexer->end, '"', false)
					     : NULL;
	}
	if (quote != '\'')
		return NULL;
	if (prefix == 'x' || (prefix == 'b' && lexer->dialect != SQL_SQLITE))
		return take_bits(lexer, token);
	if (prefix == 'n' && lexer->dialect != SQL_SQLITE)
		return take_string(lexer, token, 1, !in_postgresql);
	if (prefix == 'e' && in_postgresql)
		return take_string(lexer, token, 1, true);
	return NULL;
}

/*
 * Takes a quoted string or name. An adjacent string in PostgreSQL continues the one in front, so it
 * has escapes if that has.
 */
static const char *take_quoted(struct sql_lexer *lexer, struct sql_token *token)
{
	bool in_mysql = lexer->dialect == SQL_MYSQL;
	char quote = *lexer->at;

	if (quote == '\'' || (quote == '"' && in_mysql))
		return take_string(lexer, token, 0,
				   in_mysql || (lexer->last == SQL_STRING && lexer->has_escapes));
	if (quote == '[' && lexer->dialect == SQL_SQLITE) {
		const char *closing = memchr(lexer->at, ']', (size_t)(lexer->end - lexer->at));

		token->kind = SQL_QUOTED_NAME;
		return closing ? closing + 1 : lexer->end;
	}
	token->kind = SQL_QUOTED_NAME;
	if (quote == '"' || (quote == '`' && lexer->dialect != SQL_POSTGRESQL))
		return sql_quoted_end(lexer->at, lexer->end, quote, false);
	return NULL;
}

static const char *take_name(const struct sql_lexer *lexer, struct sql_token *token)
{
	const char *behind = sql_name_end(lexer->at, lexer->end);

	token->kind = SQL_NAME;
	if (lexer->last != SQL_DOT)
		token->meaning = sql_word_meaning(lexer->dialect, lexer->at,
						  (size_t)(behind - lexer->at));
	return behind;
}

static const char *take_number(const struct sql_lexer *lexer, struct sql_token *token)
{
	const char *behind;
	bool is_name = false;

	if (lexer->in_name && !token->blank_before && sql_is_digit(*lexer->at)) {
		is_name = true;
		behind = sql_name_end(lexer->at, lexer->end);
	} else if (lexer->dialect == SQL_MYSQL && *lexer->at != '.') {
		behind = sql_mysql_number_end(lexer->at, lexer->end, &is_name);
	} else {
		behind = sql_number_end(lexer->at, lexer->end);
	}
	token->kind = is_name ? SQL_NAME : SQL_NUMBER;
	return behind;
}

/* Returns true if the '.' here begins a number. */
static bool is_fraction(const struct sql_lexer *lexer, const struct sql_token *token)
{
	bool behind_name = !token->blank_before &&
			   (lexer->last == SQL_NAME || lexer->last == SQL_QUOTED_NAME);

	if (*lexer->at != '.' || !sql_is_digit(peek(lexer, 1)) || lexer->last == SQL_DOT)
		return false;
	return !behind_name || (lexer->expects_operand && lexer->dialect != SQL_MYSQL);
}

/*
 * Takes a variable of MySQL: @v, @'v', @@v. Directly behind a name or a literal, the '@' is the
 * one in 'user'@'host'.
 */
static const char *take_variable(const struct sql_lexer *lexer, struct sql_token *token)
{
	bool behind_name = lexer->last >= SQL_NAME && lexer->last <= SQL_PLACEHOLDER;
	const char *at = lexer->at + 1;

	if (behind_name && !token->blank_before)
		return NULL;
	token->kind = SQL_NAME;
	at += at < lexer->end && *at == '@';
	if (at == lexer->end)
		return NULL;
	if (*at == '\'' || *at == '"' || *at == '`')
		return sql_quoted_end(at, lexer->end, *at, *at != '`');
	if (!sql_is_name(*at) && *at != '.')
		return NULL;
	while (at < lexer->end && (sql_is_name(*at) || *at == '.'))
		at++;
	return at;
}

/* Returns the end of the digits or of the name behind the byte here, or NULL if there are none. */
static const char *parameter_end(const struct sql_lexer *lexer, bool digits_only)
{
	const char *at = lexer->at + 1;

	while (at < lexer->end && (digits_only ? sql_is_digit(*at) : sql_is_name(*at)))
		at++;
	return at > lexer->at + 1 ? at : NULL;
}

/* Takes a placeholder, a variable or a $string$. Returns NULL if it is no such thing. */
static const char *take_parameter(struct sql_lexer *lexer, struct sql_token *token)
{
	char c = *lexer->at;

	token->kind = SQL_PLACEHOLDER;
	switch (lexer->dialect) {
	case SQL_MYSQL:
		if (c == '@')
			return take_variable(lexer, token);
		return c == '?' ? lexer->at + 1 : NULL;
	case SQL_POSTGRESQL:
		if (c == '?')
			return lexer->at + 1;
		if (c == '$' && sql_is_digit(peek(lexer, 1)))
			return parameter_end(lexer, true);
		token->kind = SQL_STRING;
		return c == '$' ? sql_dollar_end(lexer->at, lexer->end, lexer->cut) : NULL;
	case SQL_SQLITE:
		if (c == '?') {
			const char *numbered = parameter_end(lexer, true);

			return numbered ? numbered : lexer->at + 1;
		}
		return c == ':' || c == '@' || c == '$' ? parameter_end(lexer, false) : NULL;
	}
	return NULL;
}

static bool is_one_of(char c, const char *characters)
{
	return c && strchr(characters, c);
}

/* Returns the length of an operator of PostgreSQL. */
static size_t postgresql_operator(const struct sql_lexer *lexer)
{
	bool may_end_in_sign = false;
	size_t length = 0;

	while (is_one_of(peek(lexer, length), "+-*/<>=~!@#%^&|`")) {
		char c = peek(lexer, length);
		char next = peek(lexer, length + 1);

		if (length && ((c == '-' && next == '-') || (c == '/' && next == '*')))
			break;
		may_end_in_sign |= is_one_of(c, "~!@#%^&|`");
		length++;
	}
	while (length > 1 && !may_end_in_sign && is_one_of(lexer->at[length - 1], "+-"))
		length--;
	return length ? length : 1;
}

/* Returns the length of an operator of MySQL or SQLite. */
static size_t listed_operator(const struct sql_lexer *lexer)
{
	static const char *const operators[] = {
		"->>", "<=>", "->", "<<", ">>", "<=", ">=", "<>", "!=", "==", ":=", "||", "&&"};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (is_at(lexer, operators[i]))
			return strlen(operators[i]);
	return 1;
}

static const char *take_operator(const struct sql_lexer *lexer, struct sql_token *token)
{
	token->kind = SQL_OPERATOR;
	if (lexer->dialect != SQL_POSTGRESQL)
		return lexer->at + listed_operator(lexer);
	if (is_at(lexer, "::")) {
		token->kind = SQL_CAST;
		return lexer->at + 2;
	}
	if (is_at(lexer, ":="))
		return lexer->at + 2;
	return lexer->at + postgresql_operator(lexer);
}

/* Takes a token that is one character. Returns NULL if it is no such token. */
static const char *take_single(const struct sql_lexer *lexer, struct sql_token *token)
{
	switch (*lexer->at) {
	case '(':
	case '[':
		token->kind = SQL_OPEN;
		break;
	case ')':
	case ']':
		token->kind = SQL_CLOSE;
		break;
	case ',':
		token->kind = SQL_COMMA;
		break;
	case ';':
		token->kind = SQL_SEMICOLON;
		break;
	case '.':
		token->kind = SQL_DOT;
		break;
	case '*':
		token->kind = SQL_ALL_COLUMNS;
		return lexer->expects_operand ? lexer->at + 1 : NULL;
	default:
		return NULL;
	}
	return lexer->at + 1;
}

/* Takes the token at the lexer's place, which is not the end. Returns its end. */
static const char *take_token(struct sql_lexer *lexer, struct sql_token *token)
{
	const char *behind = take_hint(lexer, token);

	if (!behind)
		behind = take_prefixed(lexer, token);
	if (!behind)
		behind = take_quoted(lexer, token);
	if (!behind && sql_begins_name(lexer->dialect, *lexer->at))
		behind = take_name(lexer, token);
	if (!behind && (sql_is_digit(*lexer->at) || is_fraction(lexer, token)))
		behind = take_number(lexer, token);
	if (!behind)
		behind = take_parameter(lexer, token);
	if (!behind)
		behind = take_single(lexer, token);
	return behind ? behind : take_operator(lexer, token);
}

/* Notes what is expected behind the token. */
static void expect(struct sql_lexer *lexer, const struct sql_token *token)
{
	switch (token->kind) {
	case SQL_NAME:
		lexer->expects_operand = token->meaning & SQL_WORD_OPERAND;
		break;
	case SQL_HINT:
	case SQL_HINT_END:
		break;
	case SQL_QUOTED_NAME:
	case SQL_NUMBER:
	case SQL_STRING:
	case SQL_BITS:
	case SQL_PLACEHOLDER:
	case SQL_ALL_COLUMNS:
	case SQL_CLOSE:
		lexer->expects_operand = false;
		break;
	default:
		lexer->expects_operand = true;
		break;
	}
	lexer->in_name = token->kind == SQL_DOT && !token->blank_before &&
			 (lexer->last == SQL_NAME || lexer->last == SQL_QUOTED_NAME);
	lexer->last = token->kind;
}

void sql_lexer_next(struct sql_lexer *lexer, struct sql_token *token)
{
	*token = (struct sql_token){.kind = SQL_END};
	token->blank_before = skip_blanks(lexer);
	token->text = lexer->at;
	token->expects_operand = lexer->expects_operand;
	if (lexer->at == lexer->end)
		return;
	lexer->at = take_token(lexer, token);
	token->length = (size_t)(lexer->at - token->text);
	expect(lexer, token);
}

bool sql_is_literal(const struct sql_token *token)
{
	return token->kind == SQL_NUMBER || token->kind == SQL_STRING || token->kind == SQL_BITS ||
	       token->kind == SQL_PLACEHOLDER;
}
