/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/escape.h"

#include <stdbool.h>

static bool is_printable(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* The letter behind the backslash, or 0 when it takes octal digits. */
static char escape_letter(unsigned char c)
{
	/* From \a (7) to \r (13). */
	return c >= '\a' && c <= '\r' ? "abtnvfr"[c - '\a'] : '\0';
}

/* Needs room for 4 bytes; returns the end. */
static char *put_escaped(char *end, unsigned char c)
{
	char letter = escape_letter(c);

	*end++ = '\\';
	if (letter) {
		*end++ = letter;
		return end;
	}
	*end++ = (char)('0' + (c >> 6));
	*end++ = (char)('0' + ((c >> 3) & 7));
	*end++ = (char)('0' + (c & 7));
	return end;
}

static char *put_quoted(char *end, unsigned char c, char quote)
{
	if (!is_printable(c))
		return put_escaped(end, c);
	if (c == '\\' || c == (unsigned char)quote)
		*end++ = '\\';
	*end++ = (char)c;
	return end;
}

void escape_bytes(struct outbuf *out, const void *bytes, size_t length)
{
	const unsigned char *in = bytes;
	char *end = outbuf_reserve(out, 4 * length);

	for (size_t i = 0; i < length; i++)
		end = put_quoted(end, in[i], '"');
	out->length = (size_t)(end - out->text);
}

void escape_char(struct outbuf *out, unsigned char c)
{
	char *end = outbuf_reserve(out, 6);

	*end++ = '\'';
	if (c) {
		end = put_quoted(end, c, '\'');
	} else {
		*end++ = '\\';
		*end++ = '0';
	}
	*end++ = '\'';
	out->length = (size_t)(end - out->text);
}

void escape_name(struct outbuf *out, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	char *end = outbuf_reserve(out, 4 * length + 1);

	if (!name)
		*end++ = '?';
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];

		if (is_printable(c))
			*end++ = (char)c;
		else
			end = put_escaped(end, c);
	}
	out->length = (size_t)(end - out->text);
}
