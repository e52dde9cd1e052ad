/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where literals, names and comments of SQL end. Each function gets the text from the first byte of
 * the thing to the end of the text, and returns the first byte behind the thing; that is `end` if
 * the thing is not closed.
 */
#ifndef TRACER_PROBE_SQL_LITERALS_H
#define TRACER_PROBE_SQL_LITERALS_H

#include "probe/sql_words.h"

bool sql_is_blank(char c);
bool sql_is_digit(char c);
/* Returns true for the characters that can be within an unquoted name. */
bool sql_is_name(char c);
/* Returns true for those of them that a name can begin with; in MySQL '$' is one, too. */
bool sql_begins_name(enum sql_dialect dialect, char c);
const char *sql_name_end(const char *at, const char *end);

/*
 * A string or a quoted name, which begins with a quote and ends with `quote`. Two of these stand
 * for one. `has_escapes`: a backslash takes the special meaning from the byte behind it.
 */
const char *sql_quoted_end(const char *at, const char *end, char quote, bool has_escapes);

/*
 * $$…$$ or $tag$…$tag$. Returns NULL if no such string begins at `at`. Where the text was cut
 * within the first tag, that is one.
 */
const char *sql_dollar_end(const char *at, const char *end, bool cut);

/* A number, which begins with a digit, or with a '.' in front of a digit. */
const char *sql_number_end(const char *at, const char *end);
/*
 * What begins with a digit in MySQL, where names can begin with digits. *is_name tells whether it
 * is a name.
 */
const char *sql_mysql_number_end(const char *at, const char *end, bool *is_name);

/* A comment that begins with the two bytes of a slash and a star. */
const char *sql_comment_end(const char *at, const char *end, bool nests);
/* A comment up to the end of the line. */
const char *sql_line_end(const char *at, const char *end);

#endif
