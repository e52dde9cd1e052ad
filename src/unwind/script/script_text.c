/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in the memory of virtual machines, as UTF-8. */
#include "unwind/script/script_text.h"

#include <string.h>

bool script_text_bytes(const struct memory_source *memory, const uint64_t *arguments,
		       struct strbuf *out)
{
	char bytes[SCRIPT_TEXT_MAX];
	const uint64_t length = arguments[1] < sizeof bytes ? arguments[1] : sizeof bytes;

	if (!arguments[0] || !length ||
	    !memory_read_exact(memory, arguments[0], bytes, (size_t)length))
		return false;
	const size_t text = strnlen(bytes, (size_t)length);

	strbuf_add_bytes(out, bytes, text);
	return text > 0;
}

bool script_text_c(const struct memory_source *memory, const uint64_t *arguments,
		   struct strbuf *out)
{
	char bytes[SCRIPT_TEXT_MAX + 1];

	if (!arguments[0] || memory_read_string(memory, arguments[0], bytes, sizeof bytes) == 0)
		return false;
	const size_t length = strnlen(bytes, sizeof bytes - 1);

	/* memory_read_string() has left nothing in `bytes` if no byte was readable. */
	strbuf_add_bytes(out, bytes, length);
	return length > 0;
}

/* Appends a character. What no text may have, as half of a surrogate pair, becomes a '?'. */
static void add_character(struct strbuf *out, uint32_t c)
{
	if (c < 0x80) {
		strbuf_add_char(out, (char)c);
	} else if (c < 0x800) {
		strbuf_add_char(out, (char)(0xc0 | c >> 6));
		strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
	} else if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		strbuf_add_char(out, '?');
	} else if (c < 0x10000) {
		strbuf_add_char(out, (char)(0xe0 | c >> 12));
		strbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
	} else {
		strbuf_add_char(out, (char)(0xf0 | c >> 18));
		strbuf_add_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
	}
}

bool script_text_python(const struct memory_source *memory, const uint64_t *arguments,
			struct strbuf *out)
{
	enum { KIND = 7, COMPACT = 8, ASCII = 16 };
	const uint64_t state = arguments[1];
	const size_t width = state & KIND;
	const bool is_ascii = state & ASCII;
	unsigned char bytes[SCRIPT_TEXT_MAX];

	if (!(state & COMPACT) || (width != 1 && width != 2 && width != 4) || !arguments[0] ||
	    (is_ascii && width != 1))
		return false;
	const uint64_t most = sizeof bytes / width;
	const size_t count = (size_t)(arguments[0] < most ? arguments[0] : most);
	const size_t before = out->length;

	if (!memory_read_exact(memory, arguments[is_ascii ? 2 : 3], bytes, count * width))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t c = 0;

		memcpy(&c, bytes + i * width, width); /* little-endian, as all of this is */
		if (!c)
			break;
		add_character(out, c);
	}
	return out->length > before;
}
