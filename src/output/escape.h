/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tracee makes us print must not steer the terminal: nothing but printable characters leaves
 * here. These are those of ASCII and, with `utf8`, those of Unicode that printable.h lets pass, in
 * valid UTF-8. Other bytes become \n \t \r \a \b \v \f or three octal digits, other wide characters
 * \u and four or \U and eight hexadecimal ones; \ and the quote get a backslash, so that what was
 * printed can be read back as C.
 *
 * A mark (an accent) is printed only behind a character that is printed as it is, and no more than
 * four in a row are, so that marks neither change the quotes nor run over other lines.
 */
#ifndef TRACER_OUTPUT_ESCAPE_H
#define TRACER_OUTPUT_ESCAPE_H

#include "output/outbuf.h"

/* Bytes of a string, for between double quotes. */
void escape_bytes(struct outbuf *out, const void *bytes, size_t length, bool utf8);

/* The same for `count` wide characters of `size` bytes: UTF-32, or UTF-16 if there are two. */
void escape_wide(struct outbuf *out, const void *bytes, size_t count, unsigned size, bool utf8);

/*
 * How many bytes, or wide characters, at the end of a string that was cut there are part of a
 * character whose other part is gone.
 */
size_t escape_unfinished(const void *bytes, size_t count, unsigned size);

/* One character in single quotes: 'a', '\n', '\0', '\377'. */
void escape_char(struct outbuf *out, unsigned char c);

/* A wide one: the same up to '\177', then '\u00e9' or, with `utf8`, the character. */
void escape_wide_char(struct outbuf *out, uint32_t c, bool utf8);

/* A symbol or module name, as ASCII: only what is not printable is changed. NULL is shown as ?. */
void escape_name(struct outbuf *out, const char *name);

#endif
