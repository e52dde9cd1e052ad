/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits an expression into tokens.
 *
 * Numbers are those of C, in decimal, hexadecimal or octal, with an optional unit directly behind:
 * a time (ns us ms s min h), which counts in nanoseconds, or a binary multiple (k M G, of 1,024).
 * With a fraction or a unit of time a number may be a decimal fraction: 1.5ms. A character in
 * single quotes is its number. Strings are in double quotes, with the escapes of C.
 */
#include "probe/expression_lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
	enum expression_unit unit;
};

static const struct unit units[] = {
	{"ns", 1, UNIT_DURATION},
	{"us", 1000, UNIT_DURATION},
	{"ms", 1000000, UNIT_DURATION},
	{"s", 1000000000, UNIT_DURATION},
	{"min", UINT64_C(60000000000), UNIT_DURATION},
	{"m", UINT64_C(60000000000), UNIT_DURATION},
	{"h", UINT64_C(3600000000000), UNIT_DURATION},
	{"k", 1 << 10, UNIT_NONE},
	{"K", 1 << 10, UNIT_NONE},
	{"M", 1 << 20, UNIT_NONE},
	{"G", 1 << 30, UNIT_NONE},
};

struct operator_name {
	char text[4];
	enum expression_operator op;
};

/* Longer ones come before those that they begin with. */
static const struct operator_name operators[] = {
	{"<<", OPERATOR_LEFT},	   {">>", OPERATOR_RIGHT},	 {"<=", OPERATOR_AT_MOST},
	{">=", OPERATOR_AT_LEAST}, {"==", OPERATOR_EQUAL},	 {"!=", OPERATOR_NOT_EQUAL},
	{"=~", OPERATOR_MATCHES},  {"!~", OPERATOR_NOT_MATCHES}, {"&&", OPERATOR_AND},
	{"||", OPERATOR_OR},	   {"<", OPERATOR_LESS},	 {">", OPERATOR_GREATER},
	{"&", OPERATOR_BIT_AND},   {"^", OPERATOR_BIT_XOR},	 {"|", OPERATOR_BIT_OR},
	{"+", OPERATOR_PLUS},	   {"-", OPERATOR_MINUS},	 {"*", OPERATOR_TIMES},
	{"/", OPERATOR_DIVIDE},	   {"%", OPERATOR_REMAINDER},	 {"!", OPERATOR_NOT},
	{"~", OPERATOR_BIT_NOT},
};

static const struct {
	char text[3];
	enum expression_token token;
} signs[] = {
	{"->", TOKEN_ARROW},	 {"(", TOKEN_OPEN},	   {")", TOKEN_CLOSE},
	{"[", TOKEN_OPEN_INDEX}, {"]", TOKEN_CLOSE_INDEX}, {",", TOKEN_COMMA},
	{".", TOKEN_DOT},	 {"?", TOKEN_QUESTION},	   {":", TOKEN_COLON},
};

void expression_lexer_init(struct expression_lexer *lexer, const char *source)
{
	*lexer = (struct expression_lexer){.source = source, .at = source};
}

void expression_lexer_deinit(struct expression_lexer *lexer)
{
	strbuf_deinit(&lexer->text);
}

static void fail(struct expression_lexer *lexer, const char *at, const char *error)
{
	lexer->token = TOKEN_END;
	lexer->column = (size_t)(at - lexer->source) + 1;
	lexer->error = error;
}

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_part(char c)
{
	return is_name_start(c) || isdigit((unsigned char)c);
}

/* ------------------------------------------------------------------ numbers */

/* Finds the unit at `at`. Returns NULL if none is there; *end: behind it. */
static const struct unit *find_unit(const char *at, const char **end)
{
	size_t length = 0;

	while (is_name_part(at[length]))
		length++;
	*end = at + length;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].name) == length && !strncmp(units[i].name, at, length))
			return &units[i];
	return NULL;
}

static void lex_number(struct expression_lexer *lexer)
{
	static const struct unit one = {"", 1, UNIT_NONE};
	const char *start = lexer->at;
	const bool is_hexadecimal = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
	const struct unit *unit = &one;
	char *end;

	errno = 0;
	uint64_t number = strtoull(start, &end, 0);

	/* "08" is a decimal number to whoever writes it here. */
	if (!is_hexadecimal && isdigit((unsigned char)*end))
		number = strtoull(start, &end, 10);
	const bool has_fraction = !is_hexadecimal && *end == '.' && isdigit((unsigned char)end[1]);
	const double real = has_fraction ? strtod(start, &end) : 0;

	if (errno == ERANGE)
		return fail(lexer, start, "the number is too large");
	lexer->at = end;
	if (is_name_start(*end)) {
		unit = find_unit(end, &lexer->at);
		if (!unit)
			return fail(lexer, end, "expected a unit: ns us ms s min h, or k M G");
	}
	lexer->token = TOKEN_NUMBER;
	/* A quotient by 1.0ms has a fraction, as one by 1.0 has. */
	if (has_fraction) {
		lexer->value = expression_float(real * (double)unit->factor);
	} else if (number > UINT64_MAX / unit->factor) {
		return fail(lexer, start, "the number is too large");
	} else {
		number *= unit->factor;
		lexer->value = number > INT64_MAX ? expression_unsigned(number)
						  : expression_signed((int64_t)number);
	}
	lexer->value.unit = unit->unit;
}

/* ------------------------------------------------------------------ quotes */

static const char escapes[] = "n\nt\tr\ra\ab\bf\fv\ve\033\\\\\"\"''";

/* Reads a character, perhaps behind a backslash, at *at. */
static unsigned char read_character(const char **at)
{
	const char *c = *at;
	char *end;

	if (*c != '\\' || !c[1]) {
		*at = c + 1;
		return (unsigned char)*c;
	}
	c++;
	if (*c == 'x' && isxdigit((unsigned char)c[1])) {
		const char digits[3] = {c[1], isxdigit((unsigned char)c[2]) ? c[2] : '\0', '\0'};
		const unsigned long number = strtoul(digits, &end, 16);

		*at = c + 1 + (end - digits);
		return (unsigned char)number;
	}
	if (*c >= '0' && *c <= '7') {
		unsigned number = 0;

		for (unsigned i = 0; i < 3 && *c >= '0' && *c <= '7'; i++)
			number = number * 8 + (unsigned)(*c++ - '0');
		*at = c;
		return (unsigned char)number;
	}
	*at = c + 1;
	for (size_t i = 0; escapes[i]; i += 2)
		if (escapes[i] == *c)
			return (unsigned char)escapes[i + 1];
	return (unsigned char)*c;
}

static void lex_text(struct expression_lexer *lexer)
{
	const char *start = lexer->at++;

	strbuf_clear(&lexer->text);
	while (*lexer->at && *lexer->at != '"') {
		/* A regular expression has its backslashes doubled, as in C; but \. is kept. */
		const char *c = lexer->at;

		if (c[0] == '\\' && c[1] && !strchr("ntrabfve\\\"'x01234567", c[1])) {
			strbuf_add_bytes(&lexer->text, c, 2);
			lexer->at += 2;
			continue;
		}
		strbuf_add_char(&lexer->text, (char)read_character(&lexer->at));
	}
	if (*lexer->at != '"')
		return fail(lexer, start, "the string has no closing quote");
	lexer->at++;
	strbuf_add_bytes(&lexer->text, "", 0);
	lexer->token = TOKEN_TEXT;
}

static void lex_character(struct expression_lexer *lexer)
{
	const char *start = lexer->at++;

	if (!*lexer->at || *lexer->at == '\'')
		return fail(lexer, start, "expected one character in quotes");
	lexer->value = expression_signed(read_character(&lexer->at));
	if (*lexer->at != '\'')
		return fail(lexer, start, "expected one character in quotes");
	lexer->at++;
	lexer->token = TOKEN_NUMBER;
}

/* ------------------------------------------------------------------ tokens */

static void lex_name(struct expression_lexer *lexer)
{
	const char *start = lexer->at;

	while (is_name_part(*lexer->at))
		lexer->at++;
	strbuf_clear(&lexer->text);
	strbuf_add_bytes(&lexer->text, start, (size_t)(lexer->at - start));
	lexer->token = TOKEN_NAME;
}

static void lex_sign(struct expression_lexer *lexer)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (strncmp(lexer->at, signs[i].text, strlen(signs[i].text)) != 0)
			continue;
		lexer->at += strlen(signs[i].text);
		lexer->token = signs[i].token;
		return;
	}
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		if (strncmp(lexer->at, operators[i].text, strlen(operators[i].text)) != 0)
			continue;
		lexer->at += strlen(operators[i].text);
		lexer->token = TOKEN_OPERATOR;
		lexer->op = operators[i].op;
		return;
	}
	fail(lexer, lexer->at,
	     *lexer->at == '=' ? "expected == or =~ (an expression changes nothing)"
			       : "this character has no meaning here");
}

void expression_lexer_next(struct expression_lexer *lexer)
{
	if (lexer->error)
		return;
	lexer->at += strspn(lexer->at, " \t\n");
	lexer->column = (size_t)(lexer->at - lexer->source) + 1;
	if (!*lexer->at)
		lexer->token = TOKEN_END;
	else if (isdigit((unsigned char)*lexer->at))
		lex_number(lexer);
	else if (*lexer->at == '"')
		lex_text(lexer);
	else if (*lexer->at == '\'')
		lex_character(lexer);
	else if (is_name_start(*lexer->at))
		lex_name(lexer);
	else
		lex_sign(lexer);
}
