/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes SQL apart into tokens, by the rules of one dialect. It takes any bytes: a byte that begins
 * no token is an operator, and what is not closed ends with the text.
 *
 * The sources of the rules are the manuals: MySQL, "Language Structure"; PostgreSQL, "Lexical
 * Structure"; SQLite, "SQL As Understood By SQLite". Modes of a server that change them
 * (ANSI_QUOTES, NO_BACKSLASH_ESCAPES, standard_conforming_strings=off) are not known here; the
 * defaults apply.
 */
#ifndef TRACER_PROBE_SQL_LEXER_H
#define TRACER_PROBE_SQL_LEXER_H

#include "probe/sql_words.h"

enum sql_token_kind {
	SQL_END,
	SQL_NAME,	 /* a keyword, an unquoted name, a variable of MySQL (@v, @@v) */
	SQL_QUOTED_NAME, /* `a`, "a", [a] */
	SQL_NUMBER,	 /* without its sign; 0x41, too */
	SQL_STRING,	 /* also E'a', N'a', U&'a', $tag$a$tag$; each of adjacent strings */
	SQL_BITS,	 /* x'41', b'01' */
	SQL_PLACEHOLDER, /* ?, ?1, $1, :v, @v, $v, as the dialect has them */
	SQL_OPERATOR,
	SQL_ALL_COLUMNS, /* a '*' where an operand is expected */
	SQL_CAST,	 /* :: */
	SQL_OPEN,	 /* ( [ */
	SQL_CLOSE,	 /* ) ] */
	SQL_COMMA,
	SQL_DOT,
	SQL_SEMICOLON,
	SQL_HINT,    /* a comment that the database reads: a whole hint, or the '!' comment's
			    beginning with its version number */
	SQL_HINT_END /* the end of a '!' comment */
};

struct sql_token {
	enum sql_token_kind kind;
	const char *text; /* in the lexer's text */
	size_t length;
	unsigned meaning;     /* of a SQL_NAME: a set of enum sql_word */
	bool blank_before;    /* white space or a comment is in front of it */
	bool expects_operand; /* it stands where an operand is expected, so a sign is no operator */
};

struct sql_lexer {
	enum sql_dialect dialect;
	bool cut; /* the text goes on behind its end */
	const char *at;
	const char *end;
	/* What follows is the lexer's own. */
	enum sql_token_kind last;
	bool expects_operand;
	bool in_executable; /* inside of a '!' comment */
	bool has_escapes;   /* the last token is a string E'a', which a next string continues */
	bool in_name;	    /* the last token is a '.' directly behind a name */
};

void sql_lexer_init(struct sql_lexer *lexer, enum sql_dialect dialect, const char *text,
		    size_t length, bool cut);

/* Takes the next token. Behind the last one, each call gives SQL_END. */
void sql_lexer_next(struct sql_lexer *lexer, struct sql_token *token);

/* Returns true if the token is a "?" in the shape of a statement. */
bool sql_is_literal(const struct sql_token *token);

#endif
