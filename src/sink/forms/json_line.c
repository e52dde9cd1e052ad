/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lines of JSON have in common, those of calls and those of a table. */
#include "sink/forms/json_line.h"

#include "sink/forms/json_text.h"
#include "sink/render/render.h"

enum { NS_PER_S = 1000000000 };

void json_line_put_time(struct outbuf *out, uint64_t time)
{
	outbuf_char(out, '"');
	outbuf_unsigned(out, time / NS_PER_S, 1, ' ');
	outbuf_char(out, '.');
	outbuf_unsigned(out, time % NS_PER_S, 9, '0');
	outbuf_char(out, '"');
}

void json_line_put_member(struct outbuf *out, const char *name)
{
	outbuf_text(out, ",\"");
	outbuf_text(out, name);
	outbuf_text(out, "\":");
}

void json_line_begin(struct outbuf *out, const char *type, uint64_t time)
{
	outbuf_text(out, "{\"type\":\"");
	outbuf_text(out, type);
	outbuf_char(out, '"');
	json_line_put_member(out, "time");
	json_line_put_time(out, time);
}

void json_line_end(struct outbuf *out)
{
	outbuf_char(out, '}');
	outbuf_newline(out);
}

void json_line_put_untraced(struct outbuf *out, const struct record *record)
{
	struct value_cursor cursor = value_cursor_start(record);
	static const char *const names[] = {"what", "why"};

	for (unsigned i = 0; i < 2; i++) {
		const struct record_value *value = value_cursor_next(&cursor);

		if (!value)
			return;
		json_line_put_member(out, names[i]);
		json_text_put(out, record_value_bytes(value), value->length);
	}
}
