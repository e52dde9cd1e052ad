/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings and numbers of JSON.
 *
 * A string of C is bytes, one of JSON is Unicode. Bytes that are UTF-8 are written as they are. A
 * byte B that belongs to no valid character becomes U+10FF00 + B, a character of a private-use
 * plane, which every JSON parser takes. A text that contains one of these characters (U+10FF80 to
 * U+10FFFF) has its four bytes written in this way, so nothing is lost and nothing is ambiguous:
 * whoever wants the bytes back writes each such character as one byte.
 *
 * Integers beyond 2^53 are strings, since a reader that has doubles would change them.
 */
#include "sink/forms/json_text.h"

#include "sink/render/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { BYTES_PLANE = 0x10ff00, BYTES_FIRST = 0x10ff80 };

#define SAFE_MAX (INT64_C(1) << 53)

static void put_byte(struct outbuf *out, unsigned char byte)
{
	char *text = outbuf_reserve(out, UTF8_MAX);

	out->length += (size_t)(utf8_encode(text, BYTES_PLANE + byte) - text);
}

static void put_ascii(struct outbuf *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		outbuf_char(out, '\\');
		outbuf_char(out, (char)c);
	} else if (c == '\n') {
		outbuf_text(out, "\\n");
	} else if (c == '\t') {
		outbuf_text(out, "\\t");
	} else if (c < ' ' || c == 0x7f) {
		outbuf_text(out, "\\u00");
		outbuf_char(out, digits[c >> 4]);
		outbuf_char(out, digits[c & 15]);
	} else {
		outbuf_char(out, (char)c);
	}
}

/* Returns how many bytes at the beginning are characters of ASCII that are written as they are. */
static size_t plain_length(const unsigned char *at, size_t length)
{
	size_t plain = 0;

	while (plain < length && at[plain] >= ' ' && at[plain] < 0x7f && at[plain] != '"' &&
	       at[plain] != '\\')
		plain++;
	return plain;
}

/* Puts the character at `at`, if it is not ASCII. Returns how many bytes it has, or 0. */
static size_t put_wide(struct outbuf *out, const unsigned char *at, size_t length)
{
	uint32_t code_point;
	const size_t size = utf8_decode(at, length, &code_point);

	if (size && code_point < 0x80)
		return 0;
	if (!size || code_point >= BYTES_FIRST) {
		put_byte(out, *at);
		return 1;
	}
	outbuf_bytes(out, at, size);
	return size;
}

void json_text_put(struct outbuf *out, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	outbuf_char(out, '"');
	for (;;) {
		const size_t plain = plain_length(at, length);

		outbuf_bytes(out, at, plain);
		at += plain;
		length -= plain;
		if (!length)
			break;
		const size_t size = put_wide(out, at, length);

		if (!size)
			put_ascii(out, *at);
		at += size ? size : 1;
		length -= size ? size : 1;
	}
	outbuf_char(out, '"');
}

void json_text_put_plain(struct outbuf *out, const void *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = at + length;

	while (at < end) {
		const size_t size = put_wide(out, at, (size_t)(end - at));

		if (!size && !*at)
			put_byte(out, *at);
		else if (!size)
			outbuf_char(out, (char)*at);
		at += size ? size : 1;
	}
}

void json_text_put_name(struct outbuf *out, const char *text)
{
	if (text)
		json_text_put(out, text, strlen(text));
	else
		outbuf_text(out, "null");
}

void json_text_put_signed(struct outbuf *out, int64_t number)
{
	const bool is_safe = number <= SAFE_MAX && number >= -SAFE_MAX;

	outbuf_text(out, is_safe ? "" : "\"");
	outbuf_signed(out, number);
	outbuf_text(out, is_safe ? "" : "\"");
}

void json_text_put_unsigned(struct outbuf *out, uint64_t number)
{
	const bool is_safe = number <= (uint64_t)SAFE_MAX;

	outbuf_text(out, is_safe ? "" : "\"");
	outbuf_unsigned(out, number, 1, ' ');
	outbuf_text(out, is_safe ? "" : "\"");
}

void json_text_put_pointer(struct outbuf *out, uint64_t pointer)
{
	if (!pointer) {
		outbuf_text(out, "null");
		return;
	}
	outbuf_char(out, '"');
	outbuf_hex(out, pointer);
	outbuf_char(out, '"');
}

void json_text_put_real(struct outbuf *out, double number)
{
	char text[40];

	snprintf(text, sizeof text, isfinite(number) ? "%.17g" : "\"%g\"", number);
	outbuf_text(out, text);
}
