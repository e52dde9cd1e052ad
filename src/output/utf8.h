/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef TRACER_OUTPUT_UTF8_H
#define TRACER_OUTPUT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4 };

/*
 * The character that begins at `bytes`, of which there are `length`, at least one. Returns how many
 * bytes it has, and sets *code_point; 0: no character begins there.
 */
size_t utf8_decode(const unsigned char *bytes, size_t length, uint32_t *code_point);

/* How many bytes at the end of `bytes` begin a character whose other bytes would come behind. */
size_t utf8_unfinished(const unsigned char *bytes, size_t length);

/* Writes a character that is one, which takes UTF8_MAX bytes at most; returns its end. */
char *utf8_encode(char *end, uint32_t code_point);

#endif
