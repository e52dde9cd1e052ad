/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoder and encoder for UTF-8, of which the decoder is strict: each accepted sequence is the one
 * that the encoder makes.
 */
#include "sink/render/utf8.h"

/* The meaning of a first byte: how many bytes there are, and the valid range of the second one. */
struct lead {
	size_t length; /* 0: no character of several bytes begins with it */
	unsigned char low, high;
};

static struct lead lead_of(unsigned char byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return (struct lead){.length = 0};
	if (byte < 0xe0)
		return (struct lead){2, 0x80, 0xbf};
	/* The ranges exclude overlong forms, surrogates, and values above U+10FFFF. */
	if (byte < 0xf0)
		return (struct lead){3, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf};
	return (struct lead){4, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf};
}

/* Returns how many bytes, up to the length that the first one announces, are valid. */
static size_t count_fitting(const unsigned char *bytes, size_t length, const struct lead *lead)
{
	size_t most = length < lead->length ? length : lead->length;
	size_t count = 1;

	if (most < 2 || bytes[1] < lead->low || bytes[1] > lead->high)
		return 1;
	for (count = 2; count < most && (bytes[count] & 0xc0) == 0x80; count++)
		;
	return count;
}

size_t utf8_decode(const unsigned char *bytes, size_t length, uint32_t *code_point)
{
	if (*bytes < 0x80) {
		*code_point = *bytes;
		return 1;
	}
	const struct lead lead = lead_of(*bytes);

	if (!lead.length || count_fitting(bytes, length, &lead) < lead.length)
		return 0;
	*code_point = *bytes & (0x7fU >> lead.length);
	for (size_t i = 1; i < lead.length; i++)
		*code_point = *code_point << 6 | (bytes[i] & 0x3f);
	return lead.length;
}

size_t utf8_unfinished(const unsigned char *bytes, size_t length)
{
	for (size_t count = 1; count < UTF8_MAX && count <= length; count++) {
		const unsigned char *start = bytes + length - count;

		if ((*start & 0xc0) == 0x80)
			continue;
		const struct lead lead = lead_of(*start);

		return lead.length > count && count_fitting(start, count, &lead) == count ? count
											  : 0;
	}
	return 0;
}

char *utf8_encode(char *end, uint32_t c)
{
	static const unsigned char leads[UTF8_MAX] = {0, 0xc0, 0xe0, 0xf0};

	if (c < 0x80) {
		*end++ = (char)c;
		return end;
	}
	unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	*end++ = (char)(leads[more] | c >> 6 * more);
	while (more--)
		*end++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return end;
}
