/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines by --template: one for each call that has ended.
 *
 * The sink gets calls as a whole (whole_calls.c). A text of the traced process is escaped as it is
 * in a trace, so that it cannot break the line or control the terminal.
 */
#include "sink/forms/template.h"

#include "base/xalloc.h"
#include "sink/call_values.h"
#include "sink/render/escape.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 1000 };

void template_free(struct template *template)
{
	if (!template)
		return;
	for (size_t i = 0; i < template->pieces.count; i++) {
		struct template_piece *piece = vec_at(&template->pieces, i);

		expression_free(piece->expression);
		free(piece->text);
	}
	vec_deinit(&template->pieces);
	free(template);
}

/* ------------------------------------------------------------------ parsing */

/* Returns the '}' that ends the expression which begins at `at`, or NULL. */
static const char *end_of_expression(const char *at)
{
	for (; *at && *at != '}'; at++) {
		const char quote = *at;

		if (quote != '"' && quote != '\'')
			continue;
		for (at++; *at && *at != quote; at++)
			at += *at == '\\' && at[1];
		if (!*at)
			return NULL;
	}
	return *at ? at : NULL;
}

static void add_text(struct template *template, struct strbuf *text)
{
	struct template_piece piece = {0};

	if (!text->length)
		return;
	piece.text = xstrdup(text->text);
	vec_push(&template->pieces, &piece);
	strbuf_clear(text);
}

static bool fail(struct expression_error *error, const char *start, const char *at,
		 const char *message)
{
	*error = (struct expression_error){(size_t)(at - start) + 1, xstrdup(message)};
	return false;
}

/* Parses what begins with the '%' at *at, and goes behind it. */
static bool parse_value(struct template *template, const char *start, const char **at,
			struct expression_error *error)
{
	struct template_piece piece = {0};
	char *open;

	piece.width = (int)strtol(*at + 1, &open, 10);
	if (open != *at + 1 && (isspace((unsigned char)(*at)[1]) || piece.width > WIDTH_MAX ||
				piece.width < -WIDTH_MAX))
		return fail(error, start, *at, "the width is too large");
	if (*open != '{')
		return fail(error, start, *at, "expected %{EXPRESSION}, or %% for a percent sign");
	const char *end = end_of_expression(open + 1);

	if (!end)
		return fail(error, start, *at, "'%{' has no '}'");
	char *text = xstrndup(open + 1, (size_t)(end - open - 1));

	piece.expression = expression_parse(text, error);
	free(text);
	if (!piece.expression) {
		error->column += (size_t)(open + 1 - start);
		return false;
	}
	vec_push(&template->pieces, &piece);
	*at = end + 1;
	return true;
}

static bool parse(struct template *template, const char *start, struct expression_error *error)
{
	struct strbuf text = {0};
	bool is_right = true;

	for (const char *at = start; *at && is_right;) {
		if (at[0] == '%' && at[1] != '%') {
			add_text(template, &text);
			is_right = parse_value(template, start, &at, error);
			continue;
		}
		if (at[0] == '\\' && at[1] == 't')
			strbuf_add_char(&text, '\t');
		else
			strbuf_add_char(&text, *at);
		at += (at[0] == '%' || (at[0] == '\\' && at[1] == 't')) ? 2 : 1;
	}
	add_text(template, &text);
	strbuf_deinit(&text);
	return is_right;
}

struct template *template_parse(const char *text, struct expression_error *error)
{
	struct template *template = xcalloc(1, sizeof *template);

	vec_init(&template->pieces, sizeof(struct template_piece));
	if (parse(template, text, error))
		return template;
	template_free(template);
	return NULL;
}

/* ------------------------------------------------------------------ the sink */

struct template_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct template_sink * */
	struct sink_target target;
	struct outbuf out;
};

static struct template_sink *template_of(struct sink *sink)
{
	return (struct template_sink *)(void *)sink;
}

static void put_value(struct template_sink *lines, const struct expression_value *value)
{
	struct outbuf *out = &lines->out;
	struct strbuf text = {0};

	call_values_add(&text, value);
	if (value->type == EXPRESSION_TEXT && !value->is_rendered)
		escape_bytes(out, text.text, text.length, lines->target.options->utf8);
	else
		outbuf_bytes(out, text.text, text.length);
	strbuf_deinit(&text);
}

/* Pads the text from `start` on to so many columns. */
static void pad(struct outbuf *out, size_t start, int width)
{
	const size_t columns = (size_t)(width < 0 ? -width : width), length = out->length - start;

	if (length >= columns)
		return;
	outbuf_spaces(out, columns - length);
	if (width < 0)
		return;
	memmove(out->text + start + columns - length, out->text + start, length);
	memset(out->text + start, ' ', columns - length);
}

static int template_call(struct sink *sink, const struct record *entry, const struct record *end)
{
	struct template_sink *lines = template_of(sink);
	const struct template *template = lines->target.options->template;
	struct call_values values;

	/* A call that has no end has no line; a span that another one has ended is a query, say. */
	if (!end && entry->kind != RECORD_ABANDONED)
		return 0;
	call_values_begin(&values, &lines->target, entry, end);
	for (size_t i = 0; i < template->pieces.count; i++) {
		const struct template_piece *piece = vec_at(&template->pieces, i);
		const size_t start = lines->out.length;

		if (piece->text) {
			outbuf_text(&lines->out, piece->text);
			continue;
		}
		const struct expression_value value = call_values_get(&values, piece->expression);

		put_value(lines, &value);
		pad(&lines->out, start, piece->width);
	}
	outbuf_newline(&lines->out);
	call_values_end(&values);
	return outbuf_flush_full(&lines->out);
}

static int template_record(struct sink *sink, const struct record *record)
{
	(void)sink;
	(void)record;
	return 0;
}

static int template_flush(struct sink *sink)
{
	return outbuf_flush(&template_of(sink)->out);
}

static void template_destroy(struct sink *sink)
{
	outbuf_deinit(&template_of(sink)->out);
	free(template_of(sink));
}

static const struct sink_ops template_ops = {
	.record = template_record,
	.call = template_call,
	.flush = template_flush,
	.finish = template_flush,
	.destroy = template_destroy,
};

struct sink *template_sink_create(const struct sink_target *target)
{
	struct template_sink *lines = xcalloc(1, sizeof *lines);

	lines->sink.ops = &template_ops;
	lines->target = *target;
	outbuf_init(&lines->out, target->fd);
	lines->out.patience = &target->options->patience;
	return &lines->sink;
}
