/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits an expression into tokens: see expression.h for the language. */
#ifndef TRACER_PROBE_EXPRESSION_LEXER_H
#define TRACER_PROBE_EXPRESSION_LEXER_H

#include "base/strbuf.h"
#include "probe/expression_value.h"

#include <stddef.h>

enum expression_token {
	TOKEN_END,
	TOKEN_NUMBER, /* `value` */
	TOKEN_TEXT,   /* `text`: the string without its quotes */
	TOKEN_NAME,   /* `text` */
	TOKEN_OPEN,   /* ( */
	TOKEN_CLOSE,
	TOKEN_OPEN_INDEX, /* [ */
	TOKEN_CLOSE_INDEX,
	TOKEN_COMMA,
	TOKEN_ARROW,
	TOKEN_DOT,
	TOKEN_QUESTION,
	TOKEN_COLON,
	TOKEN_OPERATOR /* `op` */
};

struct expression_lexer {
	const char *source; /* the whole text */
	const char *at;	    /* behind the token */
	enum expression_token token;
	size_t column; /* of the token, from 1 */
	enum expression_operator op;
	struct expression_value value;
	struct strbuf text;
	const char *error; /* what is wrong at `column`; NULL: nothing */
};

/* Begins with `source`, which must stay valid; expression_lexer_next() makes the first token. */
void expression_lexer_init(struct expression_lexer *lexer, const char *source);
void expression_lexer_deinit(struct expression_lexer *lexer);
/* Goes to the next token. On an error it is TOKEN_END, and `error` is set. */
void expression_lexer_next(struct expression_lexer *lexer);

#endif
