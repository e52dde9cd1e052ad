/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cuts the text of a .conf file into tokens; blanks and comments fall away. */
#ifndef TRACER_PROTO_CONF_LEXER_H
#define TRACER_PROTO_CONF_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum conf_token_kind {
	TOKEN_END,
	TOKEN_UNCLOSED,	  /* the end, inside a comment */
	TOKEN_NAME,	  /* letters, digits, '_', '$', '.'; not a digit or '.' first */
	TOKEN_NUMBER,	  /* decimal, hexadecimal behind 0x, octal behind 0 */
	TOKEN_HUGE,	  /* a number beyond 64 bits */
	TOKEN_TEXT,	  /* "…" on one line, the quotes included; nothing is escaped in it */
	TOKEN_PUNCTUATION /* one byte: a punctuation mark, or one that has no business here */
};

struct conf_token {
	enum conf_token_kind kind;
	const char *text; /* in the file's text */
	size_t length;
	uint64_t number; /* TOKEN_NUMBER */
	unsigned line;	 /* from 1 */
	bool first;	 /* of its line */
};

struct conf_lexer {
	const char *at;
	const char *end;
	unsigned line;
	bool line_start; /* nothing but blanks and comments yet on this line */
};

void conf_lexer_init(struct conf_lexer *lexer, const char *text, size_t length);
/* The next token; TOKEN_END again and again at the end. */
struct conf_token conf_lexer_next(struct conf_lexer *lexer);
/* Drops the rest of the line: it was a comment. */
void conf_lexer_skip_line(struct conf_lexer *lexer);

/* Whether names go on with it. */
bool conf_continues_name(char c);

#endif
