/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lexer of .conf files. It knows no keywords: what a name means is decided by the parser
 * (conf.c).
 */
#include "proto/conf_lexer.h"

#include <string.h>

static const char byte_order_mark[] = "\xef\xbb\xbf"; /* U+FEFF in UTF-8 */

/* These classes are fixed; those of ctype.h depend on the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool conf_continues_name(char c)
{
	return begins_name(c) || is_digit(c) || c == '.';
}

void conf_lexer_init(struct conf_lexer *lexer, const char *text, size_t length)
{
	/* Some editors write a byte order mark at the beginning of a file. */
	if (length >= sizeof byte_order_mark - 1 &&
	    !memcmp(text, byte_order_mark, sizeof byte_order_mark - 1)) {
		text += sizeof byte_order_mark - 1;
		length -= sizeof byte_order_mark - 1;
	}
	*lexer = (struct conf_lexer){
		.at = text,
		.end = text + length,
		.line = 1,
		.line_start = true,
	};
}

void conf_lexer_skip_line(struct conf_lexer *lexer)
{
	const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));

	lexer->at = newline ? newline : lexer->end;
}

static bool looking_at(const struct conf_lexer *lexer, const char *two)
{
	return lexer->end - lexer->at >= 2 && lexer->at[0] == two[0] && lexer->at[1] == two[1];
}

/* Skips a block comment; false if it does not end. */
static bool skip_block(struct conf_lexer *lexer)
{
	for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
		if (looking_at(lexer, "*/")) {
			lexer->at += 2;
			return true;
		}
		lexer->line += *lexer->at == '\n';
	}
	return false;
}

/* Skips blanks and comments; false if a comment does not end. */
static bool skip_blanks(struct conf_lexer *lexer)
{
	while (lexer->at < lexer->end) {
		switch (*lexer->at) {
		case '\n':
			lexer->line++;
			lexer->line_start = true;
			/* fallthrough */
		case ' ':
		case '\t':
		case '\r':
		case '\f':
		case '\v':
			lexer->at++;
			continue;
		case '#':
			conf_lexer_skip_line(lexer);
			continue;
		case '/':
			if (looking_at(lexer, "//")) {
				conf_lexer_skip_line(lexer);
				continue;
			}
			if (looking_at(lexer, "/*")) {
				if (!skip_block(lexer))
					return false;
				continue;
			}
			return true;
		default:
			return true;
		}
	}
	return true;
}

/* Returns the value of a digit; 16 for other characters. */
static unsigned digit_value(char c)
{
	if (is_digit(c))
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/*
 * Makes a number of a token that began with a digit. If it is no number of C, the token becomes a
 * stray byte.
 */
static void lex_number(struct conf_token *token)
{
	bool is_octal = token->length > 1 && token->text[0] == '0';
	bool is_hex = token->length > 2 && is_octal &&
		      (token->text[1] == 'x' || token->text[1] == 'X');
	uint64_t base = is_hex ? 16 : is_octal ? 8 : 10;

	token->kind = TOKEN_NUMBER;
	for (size_t i = is_hex ? 2 : 0; i < token->length; i++) {
		unsigned digit = digit_value(token->text[i]);

		if (digit >= base) {
			token->kind = TOKEN_PUNCTUATION;
			return;
		}
		if (token->number > (UINT64_MAX - digit) / base)
			token->kind = TOKEN_HUGE;
		else
			token->number = token->number * base + digit;
	}
}

/* Makes a text of what began with a quote, if it ends on the same line. */
static void lex_text(struct conf_lexer *lexer, struct conf_token *token)
{
	const char *at = lexer->at;

	while (at < lexer->end && *at != '\n' && *at != '"')
		at++;
	if (at == lexer->end || *at != '"')
		return;
	lexer->at = at + 1;
	token->kind = TOKEN_TEXT;
}

struct conf_token conf_lexer_next(struct conf_lexer *lexer)
{
	bool closed = skip_blanks(lexer);
	struct conf_token token = {
		.kind = closed ? TOKEN_END : TOKEN_UNCLOSED,
		.text = lexer->at,
		.line = lexer->line,
		.first = lexer->line_start,
	};

	if (lexer->at == lexer->end)
		return token;
	lexer->line_start = false;
	lexer->at++;
	token.kind = TOKEN_PUNCTUATION;
	if (conf_continues_name(*token.text) && *token.text != '.') {
		while (lexer->at < lexer->end && conf_continues_name(*lexer->at))
			lexer->at++;
		token.kind = TOKEN_NAME;
	}
	if (*token.text == '"')
		lex_text(lexer, &token);
	token.length = (size_t)(lexer->at - token.text);
	if (is_digit(*token.text))
		lex_number(&token);
	return token;
}
