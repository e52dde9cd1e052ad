/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most strings are ASCII, and a million lines a second are made of them. So a string is first
 * checked by words, and only a string with other bytes is decoded. In such a string, put_others()
 * handles each run of bytes that are not ASCII.
 */
#include "sink/render/escape.h"

#include "sink/render/printable.h"
#include "sink/render/utf8.h"

enum {
	MARKS_MAX = 4,
	ESCAPED_MAX = 4,      /* bytes of \377 */
	ESCAPED_WIDE_MAX = 10 /* bytes of \U0010ffff */
};

/* Escaped text under construction, in space that was reserved for it. */
struct escaping {
	char *end;
	size_t columnless; /* bytes minus the columns that they take */
	unsigned marks;	   /* how many marks may still follow */
	struct printable_range range;
};

static bool is_printable(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* Returns the letter behind the backslash, or 0 if octal digits are needed. */
static char escape_letter(unsigned char c)
{
	/* From \a (7) to \r (13). */
	return c >= '\a' && c <= '\r' ? "abtnvfr"[c - '\a'] : '\0';
}

/* Writes up to ESCAPED_MAX bytes and returns the end. */
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

/* Returns how many marks may follow an ASCII character in double quotes. */
static unsigned marks_behind(unsigned char c)
{
	return is_printable(c) && c != '"' && c != '\\' ? MARKS_MAX : 0;
}

static void finish(struct outbuf *out, const struct escaping *escaping)
{
	out->length = (size_t)(escaping->end - out->text);
	outbuf_take_no_column(out, escaping->columnless);
}

/*
 * Writes a character that is not ASCII. Returns false, with nothing written, if it may not be
 * shown.
 */
static bool put_character(struct escaping *escaping, uint32_t c)
{
	const enum printable class = printable_class(c, &escaping->range);
	const char *start = escaping->end;

	if (class == PRINTABLE_NOT || (class == PRINTABLE_MARK && !escaping->marks)) {
		escaping->marks = 0;
		return false;
	}
	escaping->end = utf8_encode(escaping->end, c);
	escaping->columnless += (size_t)(escaping->end - start);
	escaping->columnless -= class == PRINTABLE_WIDE ? 2 : class == PRINTABLE_NARROW;
	escaping->marks = class == PRINTABLE_MARK ? escaping->marks - 1 : MARKS_MAX;
	return true;
}

/*
 * Handles the bytes from in[i] up to the next ASCII byte or the end, and returns the index of that.
 */
static size_t put_others(struct escaping *escaping, const unsigned char *in, size_t i,
			 size_t length)
{
	uint32_t c;

	escaping->marks = i ? marks_behind(in[i - 1]) : 0;
	while (i < length && in[i] >= 0x80) {
		size_t size = utf8_decode(in + i, length - i, &c);
		size_t end = i + (size ? size : 1);

		if (size && put_character(escaping, c)) {
			i = end;
			continue;
		}
		escaping->marks = 0;
		while (i < end)
			escaping->end = put_escaped(escaping->end, in[i++]);
	}
	return i;
}

static bool is_ascii(const unsigned char *in, size_t length)
{
	uint64_t word, all = 0;
	size_t i = 0;

	for (; length - i >= sizeof word; i += sizeof word) {
		memcpy(&word, in + i, sizeof word);
		all |= word;
	}
	for (; i < length; i++)
		all |= in[i];
	return !(all & UINT64_C(0x8080808080808080));
}

static void escape_utf8(struct outbuf *out, const unsigned char *in, size_t length)
{
	struct escaping escaping = {.end = outbuf_reserve(out, ESCAPED_MAX * length)};

	for (size_t i = 0; i < length;) {
		if (in[i] >= 0x80)
			i = put_others(&escaping, in, i, length);
		else
			escaping.end = put_quoted(escaping.end, in[i++], '"');
	}
	finish(out, &escaping);
}

void escape_bytes(struct outbuf *out, const void *bytes, size_t length, bool utf8)
{
	const unsigned char *in = bytes;

	if (utf8 && !is_ascii(in, length)) {
		escape_utf8(out, in, length);
		return;
	}
	char *end = outbuf_reserve(out, ESCAPED_MAX * length);

	for (size_t i = 0; i < length; i++)
		end = put_quoted(end, in[i], '"');
	out->length = (size_t)(end - out->text);
}

/* ------------------------------------------------------------------ wide characters */

/* Writes a character beyond ASCII as a C escape, in up to ESCAPED_WIDE_MAX bytes. */
static char *put_wide_escaped(char *end, uint32_t c)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = c > UINT16_MAX ? 8 : 4;

	*end++ = '\\';
	*end++ = count == 8 ? 'U' : 'u';
	while (count--)
		*end++ = digits[c >> 4 * count & 15];
	return end;
}

static uint32_t load(const unsigned char *bytes, unsigned size)
{
	uint32_t c = 0;

	for (unsigned i = 0; i < size && i < sizeof c; i++)
		c |= (uint32_t)bytes[i] << 8 * i;
	return c;
}

static bool is_high_surrogate(uint32_t c)
{
	return (c & ~UINT32_C(0x3ff)) == 0xd800;
}

static bool is_low_surrogate(uint32_t c)
{
	return (c & ~UINT32_C(0x3ff)) == 0xdc00;
}

/*
 * Returns the character that `c` and `next` form in UTF-16, and sets *used to 2; or returns `c` if
 * they are no surrogate pair.
 */
static uint32_t join(uint32_t c, uint32_t next, size_t *used)
{
	if (!is_high_surrogate(c) || !is_low_surrogate(next))
		return c;
	*used = 2;
	return 0x10000 + ((c & 0x3ff) << 10) + (next & 0x3ff);
}

void escape_wide(struct outbuf *out, const void *bytes, size_t count, unsigned size, bool utf8)
{
	const unsigned char *in = bytes;
	struct escaping escaping = {.end = outbuf_reserve(out, ESCAPED_WIDE_MAX * count)};

	for (size_t i = 0; i < count;) {
		const uint32_t c = load(in + i * size, size);
		size_t used = 1;
		uint32_t joined = c;

		if (size == sizeof(uint16_t) && i + 1 < count)
			joined = join(c, load(in + (i + 1) * size, size), &used);
		if (c < 0x80) {
			escaping.end = put_quoted(escaping.end, (unsigned char)c, '"');
			escaping.marks = marks_behind((unsigned char)c);
		} else if (!utf8 || !put_character(&escaping, joined)) {
			escaping.end = put_wide_escaped(escaping.end, c);
			used = 1;
		}
		i += used;
	}
	finish(out, &escaping);
}

size_t escape_unfinished(const void *bytes, size_t count, unsigned size)
{
	const unsigned char *in = bytes;

	if (size == 1)
		return utf8_unfinished(in, count);
	return size == sizeof(uint16_t) && count &&
	       is_high_surrogate(load(in + (count - 1) * size, size));
}

/* ------------------------------------------------------------------ characters and names */

void escape_char(struct outbuf *out, unsigned char c)
{
	char *end = outbuf_reserve(out, ESCAPED_MAX + 2);

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

void escape_wide_char(struct outbuf *out, uint32_t c, bool utf8)
{
	if (c < 0x80) {
		escape_char(out, (unsigned char)c);
		return;
	}
	struct escaping escaping = {.end = outbuf_reserve(out, ESCAPED_WIDE_MAX + 2)};

	*escaping.end++ = '\'';
	if (!utf8 || !put_character(&escaping, c))
		escaping.end = put_wide_escaped(escaping.end, c);
	*escaping.end++ = '\'';
	finish(out, &escaping);
}

void escape_source_name(struct outbuf *out, const char *name, bool utf8)
{
	const unsigned char *in = (const unsigned char *)name;
	const size_t length = strlen(name);
	struct escaping escaping = {.end = outbuf_reserve(out, ESCAPED_MAX * length)};

	for (size_t i = 0; i < length;) {
		if (in[i] >= 0x80 && utf8)
			i = put_others(&escaping, in, i, length);
		else if (is_printable(in[i]))
			*escaping.end++ = (char)in[i++];
		else
			escaping.end = put_escaped(escaping.end, in[i++]);
	}
	finish(out, &escaping);
}

void escape_name(struct outbuf *out, const char *name)
{
	escape_source_name(out, name ? name : "?", false);
}
