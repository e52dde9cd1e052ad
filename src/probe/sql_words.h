/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dialects of SQL that the tracer reads, and what it knows of their words. */
#ifndef TRACER_PROBE_SQL_WORDS_H
#define TRACER_PROBE_SQL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum sql_dialect {
	SQL_MYSQL, /* and MariaDB */
	SQL_POSTGRESQL,
	SQL_SQLITE
};

/*
 * Finds the dialect that is called "mysql", "postgresql" or "sqlite", in small letters. Returns
 * false, and leaves *dialect alone, if there is none of that name.
 */
bool sql_dialect_find(const char *name, enum sql_dialect *dialect);

/* What a word means for the shape of a statement. A word may have several meanings, or none. */
enum sql_word {
	SQL_WORD_OPERAND = 1,	   /* an operand follows it, so a sign behind it is no operator */
	SQL_WORD_CONSTANT = 2,	   /* NULL, TRUE, FALSE, DEFAULT: stands in a list like a value */
	SQL_WORD_ROWS = 4,	   /* VALUES: rows follow it */
	SQL_WORD_ROW = 8,	   /* ROW in front of a row */
	SQL_WORD_ARRAY = 16,	   /* ARRAY in front of a list in brackets */
	SQL_WORD_TYPE = 32,	   /* makes a value of the string behind it: DATE '2020-01-01' */
	SQL_WORD_TYPE_REST = 64,   /* a later word of a type: double PRECISION */
	SQL_WORD_INTRODUCER = 128, /* _utf8: names the character set of the string behind it */
};

/*
 * Returns the meanings, a set of enum sql_word, of an unquoted word. Letters of both cases are
 * equal.
 */
unsigned sql_word_meaning(enum sql_dialect dialect, const char *word, size_t length);

#endif
