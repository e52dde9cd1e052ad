/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of frame descriptions. A statement is a line, so the end of a line is a token, which is
 * passed by frames_next_line() alone. A comment begins with # and ends with the line.
 */
#include "unwind/script/frames_lexer.h"

#include <string.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static bool is_end_of_line(char c)
{
	return c == '\0' || c == '\n' || c == '#';
}

static void lex_number(struct frames_token *token)
{
	const char *at = token->text;
	int base = 10;

	token->kind = FRAMES_NUMBER;
	token->number = 0;
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	}
	const char *digits = at;

	for (; digit_value(*at) < base; at++) {
		/* A number too large for 64 bits is no number. */
		if (token->number > (UINT64_MAX - 15) / 16)
			token->kind = FRAMES_STRAY;
		token->number = token->number * (uint64_t)base + (uint64_t)digit_value(*at);
	}
	if (at == digits || is_letter(*at) || is_digit(*at))
		token->kind = FRAMES_STRAY;
	token->length = (size_t)(at - token->text);
	if (!token->length)
		token->length = 1;
}

static void lex_text(struct frames_token *token)
{
	const char *end = token->text + 1;

	while (*end != '"' && *end != '\n' && *end)
		end++;
	if (*end != '"') {
		token->kind = FRAMES_STRAY;
		token->length = 1;
		return;
	}
	token->kind = FRAMES_TEXT;
	token->text++;
	token->length = (size_t)(end - token->text);
}

static void lex_mark(struct frames_token *token)
{
	static const char pairs[][3] = {"==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};

	token->kind = strchr("=*/+-&|!~<>(),:?", *token->text) ? FRAMES_MARK : FRAMES_STRAY;
	token->length = 1;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (token->text[0] == pairs[i][0] && token->text[1] == pairs[i][1]) {
			token->kind = FRAMES_MARK;
			token->length = 2;
		}
}

/* Reads the token at lexer->at. */
static void lex(struct frames_lexer *lexer)
{
	struct frames_token *token = &lexer->token;

	while (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\r')
		lexer->at++;
	*token = (struct frames_token){.kind = FRAMES_END_OF_LINE, .text = lexer->at};
	if (is_end_of_line(*lexer->at))
		return;
	if (is_letter(*lexer->at)) {
		token->kind = FRAMES_NAME;
		/* A dot joins the parts of a name: frame.code. */
		while (is_letter(lexer->at[token->length]) || is_digit(lexer->at[token->length]) ||
		       (lexer->at[token->length] == '.' && is_letter(lexer->at[token->length + 1])))
			token->length++;
	} else if (is_digit(*lexer->at)) {
		lex_number(token);
	} else if (*lexer->at == '"') {
		lex_text(token);
	} else {
		lex_mark(token);
	}
	lexer->at = token->text + token->length + (token->kind == FRAMES_TEXT);
}

void frames_take(struct frames_lexer *lexer)
{
	if (lexer->token.kind != FRAMES_END_OF_LINE)
		lex(lexer);
}

/* Goes to the end of the line. */
static void skip_line(struct frames_lexer *lexer)
{
	lexer->at += strcspn(lexer->at, "\n");
}

/* Goes to the first line from here on that has a token. */
static bool find_token(struct frames_lexer *lexer)
{
	for (;;) {
		lex(lexer);
		if (lexer->token.kind != FRAMES_END_OF_LINE)
			return true;
		skip_line(lexer);
		if (!*lexer->at)
			return false;
		lexer->at++;
		lexer->line++;
	}
}

void frames_lexer_init(struct frames_lexer *lexer, const char *text)
{
	*lexer = (struct frames_lexer){.at = text, .line = 1};
	find_token(lexer);
}

bool frames_next_line(struct frames_lexer *lexer)
{
	skip_line(lexer);
	if (!*lexer->at)
		return false;
	lexer->at++;
	lexer->line++;
	return find_token(lexer);
}

const char *frames_take_rest(struct frames_lexer *lexer, size_t *length)
{
	const char *start = lexer->token.text;

	*length = strcspn(start, "#\n");
	lexer->at = start + *length;
	lex(lexer);
	while (*length && strchr(" \t\r", start[*length - 1]))
		--*length;
	return start;
}

bool frames_at(const struct frames_lexer *lexer, const char *word)
{
	const struct frames_token *token = &lexer->token;

	/* Most words differ in the first character, and each word is compared with many. */
	return (token->kind == FRAMES_NAME || token->kind == FRAMES_MARK) &&
	       *token->text == *word && token->length == strlen(word) &&
	       !memcmp(token->text, word, token->length);
}
