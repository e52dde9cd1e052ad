/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the text of a frame description apart into tokens: see frames_lexer.c. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_LEXER_H
#define TRACER_UNWIND_SCRIPT_FRAMES_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frames_token_kind {
	FRAMES_END_OF_LINE, /* and of the text */
	FRAMES_NAME,
	FRAMES_NUMBER,
	FRAMES_TEXT, /* in quotation marks, which `text` does not include */
	FRAMES_MARK, /* one or two characters */
	FRAMES_STRAY /* a character that begins no token */
};

struct frames_token {
	enum frames_token_kind kind;
	const char *text; /* in the lexer's text */
	size_t length;
	uint64_t number;
};

/* A place in the text. It may be copied, and a copy put back. */
struct frames_lexer {
	const char *at; /* NUL-terminated text; the caller's */
	unsigned line;	/* of the token, from 1 */
	struct frames_token token;
};

/* Starts at the first token of the text. */
void frames_lexer_init(struct frames_lexer *lexer, const char *text);
/* Takes the token; the next one of the line takes its place. Stays at the end of a line. */
void frames_take(struct frames_lexer *lexer);
/* Goes to the first token of the next line that has one. Returns false at the end of the text. */
bool frames_next_line(struct frames_lexer *lexer);
/* Returns the rest of the line from the token on, without comment and spaces around it. */
const char *frames_take_rest(struct frames_lexer *lexer, size_t *length);
/* Returns true if the token is this name or mark. */
bool frames_at(const struct frames_lexer *lexer, const char *word);

#endif
