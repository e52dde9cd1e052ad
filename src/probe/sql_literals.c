/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where literals, names and comments of SQL end.
 *
 * Each function walks forward once, and what it walks over is one token or one comment. So the
 * lexer looks at each byte of a text a limited number of times, whatever the text is. A string
 * that is not closed takes all that is left. To look for another reading of its quote would cost a
 * second walk for each quote, and a server refuses such a text anyway.
 */
#include "probe/sql_literals.h"

#include <string.h>

bool sql_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool sql_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

bool sql_is_name(char c)
{
	return is_letter(c) || sql_is_digit(c) || c == '$';
}

bool sql_begins_name(enum sql_dialect dialect, char c)
{
	return is_letter(c) || (c == '$' && dialect == SQL_MYSQL);
}

const char *sql_name_end(const char *at, const char *end)
{
	while (at < end && sql_is_name(*at))
		at++;
	return at;
}

const char *sql_quoted_end(const char *at, const char *end, char quote, bool has_escapes)
{
	for (at++; at < end; at++) {
		if (*at == '\\' && has_escapes) {
			if (++at == end)
				break;
		} else if (*at == quote) {
			if (at + 1 == end || at[1] != quote)
				return at + 1;
			at++;
		}
	}
	return end;
}

const char *sql_dollar_end(const char *at, const char *end, bool cut)
{
	const char *behind = at + 1;
	const char *closing;

	if (behind < end && sql_is_digit(*behind))
		return NULL;
	while (behind < end && *behind != '$' && sql_is_name(*behind))
		behind++;
	if (behind == end)
		return cut ? end : NULL;
	if (*behind != '$')
		return NULL;
	behind++;
	closing = memmem(behind, (size_t)(end - behind), at, (size_t)(behind - at));
	return closing ? closing + (behind - at) : end;
}

static bool is_hex(char c)
{
	return sql_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Skips digits, and each '_' between two of them. */
static const char *skip_digits(const char *at, const char *end)
{
	while (at < end &&
	       (sql_is_digit(*at) || (*at == '_' && at + 1 < end && sql_is_digit(at[1]))))
		at++;
	return at;
}

/* Skips the exponent of a number, if there is one. */
static const char *skip_exponent(const char *at, const char *end)
{
	const char *digits = at + 1;

	if (at == end || (*at != 'e' && *at != 'E'))
		return at;
	digits += digits < end && (*digits == '+' || *digits == '-');
	return digits < end && sql_is_digit(*digits) ? skip_digits(digits, end) : at;
}

/* Skips the part of a number that begins with a '.': but "1..2" is a range. */
static const char *skip_fraction(const char *at, const char *end)
{
	if (at < end && *at == '.' && (at + 1 == end || at[1] != '.'))
		at = skip_digits(at + 1, end);
	return skip_exponent(at, end);
}

const char *sql_number_end(const char *at, const char *end)
{
	if (*at == '0' && end - at > 2 && strchr("xXoObB", at[1]) && at[1] && is_hex(at[2])) {
		for (at += 2; at < end && (is_hex(*at) || *at == '_');)
			at++;
		return at;
	}
	return skip_fraction(skip_digits(at, end), end);
}

/* Returns true if the bytes are a number in another base: 0x41, 0b01. */
static bool is_based(const char *at, const char *end)
{
	if (end - at < 3 || *at != '0' || !strchr("xXbB", at[1]))
		return false;
	for (at += 2; at < end; at++)
		if (!is_hex(*at))
			return false;
	return true;
}

const char *sql_mysql_number_end(const char *at, const char *end, bool *is_name)
{
	const char *behind = sql_name_end(at, end);
	const char *digits = at;

	*is_name = false;
	if (is_based(at, behind))
		return behind;
	while (digits < behind && sql_is_digit(*digits))
		digits++;
	if (digits == behind)
		return skip_fraction(digits, end);
	/* 1e5 and 1e-5 are numbers; 1e, 1e5a and 1a are names. */
	digits = skip_exponent(digits, end);
	if (digits >= behind)
		return digits;
	*is_name = true;
	return behind;
}

const char *sql_comment_end(const char *at, const char *end, bool nests)
{
	size_t depth = 1;

	for (at += 2; at + 1 < end; at++) {
		if (at[0] == '*' && at[1] == '/') {
			at++;
			if (!--depth)
				return at + 1;
		} else if (nests && at[0] == '/' && at[1] == '*') {
			at++;
			depth++;
		}
	}
	return end;
}

const char *sql_line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline + 1 : end;
}
