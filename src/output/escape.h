/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tracee makes us print must not steer the terminal: nothing but printable ASCII leaves
 * here. The rest becomes \n \t \r \a \b \v \f or three octal digits; \ and the quote get a
 * backslash, so that what was printed can be read back as C.
 */
#ifndef TRACER_OUTPUT_ESCAPE_H
#define TRACER_OUTPUT_ESCAPE_H

#include "output/outbuf.h"

/* Bytes of a string, for between double quotes. */
void escape_bytes(struct outbuf *out, const void *bytes, size_t length);

/* One character in single quotes: 'a', '\n', '\0', '\377'. */
void escape_char(struct outbuf *out, unsigned char c);

/* A symbol or module name: only what is not printable is changed. NULL is shown as ?. */
void escape_name(struct outbuf *out, const char *name);

#endif
