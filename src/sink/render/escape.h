/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escapes text from a tracee, so that it cannot send control sequences to the terminal: only
 * printable characters are written. These are the printable ones of ASCII and, with `utf8`, those
 * of Unicode that printable.h allows, in valid UTF-8. Other bytes become \n \t \r \a \b \v \f or
 * three octal digits; other wide characters become \u and four or \U and eight hexadecimal digits.
 * \ and the quote get a backslash, so that the output can be read back as C.
 *
 * A mark (such as an accent) is written only behind a character that is written unchanged, and at
 * most four in a row, so that marks neither change the quotes nor extend over other lines.
 */
#ifndef TRACER_SINK_RENDER_ESCAPE_H
#define TRACER_SINK_RENDER_ESCAPE_H

#include "sink/render/outbuf.h"

/* Writes the bytes of a string, without the double quotes around it. */
void escape_bytes(struct outbuf *out, const void *bytes, size_t length, bool utf8);

/*
 * Like escape_bytes(), for `count` wide characters of `size` bytes: UTF-16 if `size` is 2,
 * otherwise UTF-32.
 */
void escape_wide(struct outbuf *out, const void *bytes, size_t count, unsigned size, bool utf8);

/*
 * Returns how many bytes, or wide characters, at the end of a truncated string belong to a
 * character that is not complete.
 */
size_t escape_unfinished(const void *bytes, size_t count, unsigned size);

/* Writes one character in single quotes: 'a', '\n', '\0', '\377'. */
void escape_char(struct outbuf *out, unsigned char c);

/*
 * Writes a wide character: up to '\177' like escape_char(), above that '\u00e9' or, with `utf8`,
 * the character.
 */
void escape_wide_char(struct outbuf *out, uint32_t c, bool utf8);

/*
 * Writes the name of a file or function of a script: only what is not printable is escaped. With
 * `utf8`, characters beyond ASCII are written like those of a string.
 */
void escape_source_name(struct outbuf *out, const char *name, bool utf8);

/*
 * Writes a symbol or module name as ASCII: only bytes that are not printable are escaped. NULL
 * becomes "?".
 */
void escape_name(struct outbuf *out, const char *name);

#endif
