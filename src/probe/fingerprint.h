/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of SQL text: what statements have in common that differ in their values only.
 *
 *	SELECT * FROM t WHERE a = -5 AND b IN (1, 2, 3)  -- by id
 *	SELECT * FROM t WHERE a=? AND b IN(?+)
 *
 * What changes:
 * - A literal becomes "?": strings in all spellings of the dialect, with the prefix (N'', _utf8'',
 *   E'') and with the adjacent strings that continue it; $tag$ strings; hexadecimal and bit
 *   strings; numbers with their sign. A sign belongs to a number only where an operand is
 *   expected: "a-1" is "a-?".
 * - A placeholder becomes "?", too: ? of MySQL; ? and $1 of PostgreSQL; ?, ?1, :v, @v, $v of
 *   SQLite. So a prepared statement has the shape of the same statement with its values, and a
 *   list of placeholders folds. :v stays in MySQL and PostgreSQL, which have no such placeholders:
 *   a driver replaces them. @v stays in MySQL, where it is a variable.
 * - A list of values in parentheses becomes "(?+)", whatever its length, also of one, also the
 *   arguments of a function or of a type: f(1, 2) and VARCHAR(20). NULL, TRUE, FALSE and DEFAULT
 *   count as values next to a literal, so that rows that differ only in them are equal. Values of
 *   one type keep it: ('1'::int,'2'::int) is (?::int+), (DATE '2020-01-01') is (DATE ?+).
 *   ARRAY[1,2] is ARRAY[?+].
 * - Rows of one shape become one: VALUES(?+), VALUES(?,now()), IN((?+)).
 * - Comments and the semicolons at the end of the text disappear. Hints, and the '!' comments that
 *   MySQL executes, stay; of the latter, the contents are treated like all SQL.
 * - White space: at most one blank is between two tokens. It is there where the text has white
 *   space, and both tokens are words, names, "?", hints or the star of all columns, or the first
 *   is a closing parenthesis, or the second is an operator in front of its operand (SELECT -a), or
 *   both would be read as another token without it. Everywhere else, which is next to operators,
 *   commas, dots, semicolons and within and in front of parentheses, there is none. A blank that
 *   the text does not have is put only between a word and a literal of two bytes or more:
 *   SELECT'a'.
 *
 * What stays: names, keywords and their case; NULL, TRUE and FALSE (but for lists); all other
 * bytes, also NUL and those that are no UTF-8. The shape of a shape is that shape.
 *
 * The shape is never longer than the text, with one exception that "(?+)" makes: a list of a single
 * value of one byte, such as f(1), f(1::int) or ARRAY[1], without white space in front or around,
 * becomes one byte longer.
 * The shape of a cut text may have the three bytes of its mark in addition.
 *
 * Time is linear in the length of the text, for any text. No memory is allocated.
 */
#ifndef TRACER_PROBE_FINGERPRINT_H
#define TRACER_PROBE_FINGERPRINT_H

#include "probe/sql_words.h"

/*
 * Returns the number of bytes that the shape of a text of `length` bytes needs at most, with its
 * NUL.
 */
static inline size_t fingerprint_room(size_t length)
{
	return length + length / 3 + sizeof "...";
}

/*
 * Writes the shape of the text, with a NUL behind it, which is not counted in the length that is
 * returned. `shape` has fingerprint_room(length) bytes and does not overlap the text. The text
 * needs no NUL behind it, and may have some in it.
 *
 * `cut`: the text goes on behind its end, and is not known there. Then the shape ends with "...".
 * A literal that is not finished is a "?". A list of two elements or more that is not closed is
 * "(?+". A row that is not closed disappears if it begins like the row in front, and so does a
 * sign of which the number is not there.
 */
size_t fingerprint(enum sql_dialect dialect, const char *text, size_t length, bool cut,
		   char *shape);

#endif
