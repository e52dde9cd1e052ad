/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef TRACER_SINK_RENDER_UTF8_H
#define TRACER_SINK_RENDER_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4 };

/*
 * Decodes the character that begins at `bytes`, of which there are `length`, at least one. Sets
 * *code_point and returns how many bytes it has, or 0 if no valid character begins there.
 */
size_t utf8_decode(const unsigned char *bytes, size_t length, uint32_t *code_point);

/*
 * Returns how many bytes at the end of `bytes` are the beginning of a character that is not
 * complete.
 */
size_t utf8_unfinished(const unsigned char *bytes, size_t length);

/* Writes a valid character in up to UTF8_MAX bytes. Returns the end. */
char *utf8_encode(char *end, uint32_t code_point);

#endif
