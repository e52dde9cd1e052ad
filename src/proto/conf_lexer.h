/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits the text of a .conf file into tokens, and drops blanks and comments. */
#ifndef TRACER_PROTO_CONF_LEXER_H
#define TRACER_PROTO_CONF_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum conf_token_kind {
	TOKEN_END,
	TOKEN_UNCLOSED,	  /* the text ends inside of a comment */
	TOKEN_NAME,	  /* letters, digits, '_', '$', '.'; neither a digit nor '.' first */
	TOKEN_NUMBER,	  /* decimal, hexadecimal with 0x, octal with 0 */
	TOKEN_HUGE,	  /* a number of more than 64 bits */
	TOKEN_TEXT,	  /* "…" on one line, with the quotes; there are no escapes */
	TOKEN_PUNCTUATION /* one byte: a punctuation mark, or a stray byte */
};

struct conf_token {
	enum conf_token_kind kind;
	const char *text; /* points into the file's text */
	size_t length;
	uint64_t number; /* valid for TOKEN_NUMBER */
	unsigned line;	 /* counted from 1 */
	bool first;	 /* the first token of its line */
};

struct conf_lexer {
	const char *at;
	const char *end;
	unsigned line;
	bool line_start; /* only blanks and comments so far on this line */
};

void conf_lexer_init(struct conf_lexer *lexer, const char *text, size_t length);
/* Returns the next token. At the end, each call returns TOKEN_END. */
struct conf_token conf_lexer_next(struct conf_lexer *lexer);
/* Skips the rest of the line, as a comment. */
void conf_lexer_skip_line(struct conf_lexer *lexer);

/* Returns true for a character that a name may have, other than at its beginning. */
bool conf_continues_name(char c);

#endif
