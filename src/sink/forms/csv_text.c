/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comma-separated values (RFC 4180). A field is put in quotes if it has a comma, a quote, or blanks
 * at its ends, and a quote in it is doubled.
 *
 * Two things are decided here. Lines end with LF: RFC 4180 says CRLF, but the tools of this system
 * would take the CR for a part of the last field, and no reader of CSV needs it. And no field has a
 * line break in it: what is not printable is escaped as in the lines of a trace, so that programs
 * that know nothing of quotes still see one line for one call, and terminals are safe.
 */
#include "sink/forms/csv_text.h"

#include "sink/render/escape.h"

enum { NS_PER_S = 1000000000 };

struct csv_line csv_line_begin(struct outbuf *out)
{
	return (struct csv_line){.out = out};
}

void csv_line_end(struct csv_line *line)
{
	outbuf_newline(line->out);
}

void csv_field_begin(struct csv_line *line)
{
	if (line->has_fields)
		outbuf_char(line->out, ',');
	line->has_fields = true;
	line->start = line->out->length;
}

static bool needs_quotes(const char *text, size_t length)
{
	return length && (memchr(text, ',', length) || memchr(text, '"', length) ||
			  text[0] == ' ' || text[length - 1] == ' ');
}

void csv_field_end(struct csv_line *line)
{
	struct outbuf *out = line->out;
	const size_t length = out->length - line->start;
	size_t quotes = 2;

	if (!needs_quotes(out->text + line->start, length))
		return;
	for (size_t i = line->start; i < out->length; i++)
		quotes += out->text[i] == '"';
	outbuf_reserve(out, quotes);
	out->length += quotes;

	/* From the end on, so that the text can be moved within itself. */
	char *to = out->text + out->length, *from = out->text + line->start + length;

	*--to = '"';
	while (from > out->text + line->start) {
		*--to = *--from;
		if (*from == '"')
			*--to = '"';
	}
	*--to = '"';
}

void csv_field_empty(struct csv_line *line)
{
	csv_field_begin(line);
}

void csv_field_text(struct csv_line *line, const char *text)
{
	csv_field_begin(line);
	outbuf_text(line->out, text);
	csv_field_end(line);
}

void csv_field_unsigned(struct csv_line *line, uint64_t number)
{
	csv_field_begin(line);
	outbuf_unsigned(line->out, number, 1, ' ');
}

void csv_field_signed(struct csv_line *line, int64_t number)
{
	csv_field_begin(line);
	outbuf_signed(line->out, number);
}

void csv_field_time(struct csv_line *line, uint64_t ns)
{
	csv_field_begin(line);
	outbuf_unsigned(line->out, ns / NS_PER_S, 1, ' ');
	outbuf_char(line->out, '.');
	outbuf_unsigned(line->out, ns % NS_PER_S, 9, '0');
}

void csv_field_name(struct csv_line *line, const char *name)
{
	csv_field_begin(line);
	if (name)
		escape_source_name(line->out, name, true);
	csv_field_end(line);
}
