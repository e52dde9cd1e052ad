/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON inside of an HTML page, in <script type="application/json">.
 *
 * A browser ends a script at "</script", and gives "<!--" in one a meaning of its own, wherever it
 * stands (HTML Living Standard, 4.12.1.3 "Restrictions for contents of script elements"). So no
 * string has a '<'. Bytes that are not UTF-8 are written as json_text.c does.
 */
#include "sink/report/report_json.h"

#include "base/xalloc.h"
#include "sink/forms/json_text.h"

#include <stdlib.h>

/* Returns the length of a sequence that is written as \u and four digits; 0: of none. */
static size_t is_escaped(const char *at, size_t left, const char **escape)
{
	if (*at == '<') {
		*escape = "\\u003c";
		return 1;
	}
	if (left < 3 || memcmp(at, "\xe2\x80", 2) || (at[2] != '\xa8' && at[2] != '\xa9'))
		return 0;
	*escape = at[2] == '\xa8' ? "\\u2028" : "\\u2029";
	return 3;
}

/* Escapes what was written since `start`. */
static void escape_since(struct outbuf *out, size_t start)
{
	const size_t length = out->length - start;
	const char *escape;
	char *copy;

	if (!memchr(out->text + start, '<', length) && !memchr(out->text + start, '\xe2', length))
		return;
	copy = xmemdup(out->text + start, length);
	out->length = start;
	for (size_t i = 0; i < length;) {
		const size_t used = is_escaped(copy + i, length - i, &escape);

		if (used)
			outbuf_text(out, escape);
		else
			outbuf_char(out, copy[i]);
		i += used ? used : 1;
	}
	free(copy);
}

void report_json_text(struct outbuf *out, const char *bytes, size_t length)
{
	const size_t start = out->length;

	json_text_put(out, bytes, length);
	escape_since(out, start);
}

void report_json_name(struct outbuf *out, const char *text)
{
	if (text)
		report_json_text(out, text, strlen(text));
	else
		outbuf_text(out, "null");
}

enum { FLUSHED = 64 << 10 };

void report_json_flush(struct outbuf *out)
{
	const char last = out->length ? out->text[out->length - 1] : '\0';

	if (out->length <= FLUSHED)
		return;
	/* It says whether a comma is needed: see separate(). */
	out->length--;
	outbuf_flush(out);
	outbuf_char(out, last);
}

/* Puts a comma behind what is not the beginning of an object or array. */
static void separate(struct outbuf *out)
{
	const char last = out->length ? out->text[out->length - 1] : '{';

	if (last != '{' && last != '[')
		outbuf_char(out, ',');
}

static void begin_member(struct outbuf *out, const char *name)
{
	separate(out);
	if (!name)
		return;
	outbuf_char(out, '"');
	outbuf_text(out, name);
	outbuf_text(out, "\":");
}

void report_json_open(struct outbuf *out, const char *name, char bracket)
{
	begin_member(out, name);
	outbuf_char(out, bracket);
}

void report_json_close(struct outbuf *out, char bracket)
{
	outbuf_char(out, bracket);
}

void report_json_number(struct outbuf *out, const char *name, uint64_t number)
{
	begin_member(out, name);
	outbuf_unsigned(out, number, 1, ' ');
}

void report_json_member(struct outbuf *out, const char *name, const char *text)
{
	begin_member(out, name);
	report_json_name(out, text);
}

void report_json_push(struct outbuf *out, int64_t number)
{
	separate(out);
	outbuf_signed(out, number);
}

void report_json_push_text(struct outbuf *out, const char *text)
{
	separate(out);
	report_json_name(out, text);
}

void report_json_column(struct outbuf *out, const char *name, const struct vec *items,
			int64_t (*get)(const void *item, const void *context), const void *context)
{
	report_json_open(out, name, '[');
	for (size_t i = 0; i < items->count; i++)
		report_json_push(out, get(vec_at(items, i), context));
	report_json_close(out, ']');
	outbuf_newline(out);
}
