/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which calls the report keeps, with their texts.
 *
 * Few of many calls are wanted by a list, so the text of a call is made only then. Texts come from
 * the traced process and have any length: each is cut, and much shorter if all of them together
 * have become too long.
 *
 * Calls that did not end are passed on in no order when their process ends. The report wants those
 * inside before those outside (report_flame.c): it keeps them until the end of the trace.
 */
#include "sink/report/report_calls.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sink/render/errname.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 2048, STATEMENT_MAX = 16384, TEXT_SHORT = 128, KEPT_BYTES_MAX = 64 << 20 };

/* ------------------------------------------------------------------ texts */

static char *keep_text(struct report_sink *report, const char *text, size_t length, size_t most)
{
	static const char mark[] = "...";
	const size_t room = report->kept_bytes > KEPT_BYTES_MAX ? TEXT_SHORT : most;
	const size_t kept = length > room ? room : length;
	char *copy = xmalloc(kept + sizeof mark);

	memcpy(copy, text ? text : "", kept);
	for (size_t i = 0; i < kept; i++)
		if (!copy[i])
			copy[i] = ' ';
	memcpy(copy + kept, mark, sizeof mark);
	if (length == kept)
		copy[kept] = '\0';
	report->kept_bytes += kept;
	return copy;
}

static char *keep_out(struct report_sink *report, struct outbuf *out)
{
	char *text = out->length ? keep_text(report, out->text, out->length, TEXT_MAX) : NULL;

	outbuf_deinit(out);
	return text;
}

static char *arguments_of(struct report_sink *report, const struct call_values *values)
{
	const struct prototype *prototype = values->probe ? values->probe->prototype : NULL;
	const unsigned count = prototype ? render_entry_count(prototype) : 0;
	struct value_cursor cursor;
	struct outbuf out;

	if (!prototype || !values->entry)
		return NULL;
	outbuf_init(&out, -1);
	cursor = value_cursor_start(values->entry);
	render_arguments(&out, prototype, 0, count, &cursor, &report->render);
	if (count < prototype->parameter_count && values->end &&
	    values->end->kind == RECORD_RETURN) {
		const size_t length = out.length;

		outbuf_text(&out, length ? ", " : "");
		cursor = value_cursor_start(values->end);
		render_skip_result(prototype, &cursor);
		render_arguments(&out, prototype, count, prototype->parameter_count, &cursor,
				 &report->render);
	}
	return keep_out(report, &out);
}

static char *result_of(struct report_sink *report, const struct call_values *values)
{
	struct value_cursor cursor;
	struct outbuf out;

	if (!values->probe || !values->end || values->end->kind != RECORD_RETURN)
		return NULL;
	outbuf_init(&out, -1);
	if (values->probe->kind == PROBE_SYSTEM && values->end->number > 0) {
		errname_put_result(&out, values->end->number);
	} else {
		cursor = value_cursor_start(values->end);
		render_result(&out, values->probe->prototype, &cursor, &report->render);
	}
	return keep_out(report, &out);
}

static char *statement_of(struct report_sink *report, const struct report_call *call,
			  struct call_values *values)
{
	if (!call->rows[REPORT_STATEMENTS])
		return NULL;
	const struct expression *shape = map_get(&report->statements,
						 (uint64_t)values->probe->id + 1);
	const struct expression_value text = call_values_get(values, shape->parts[0]);
	struct strbuf shown = {0};

	if (text.type != EXPRESSION_TEXT)
		return NULL;
	call_values_add(&shown, &text);
	char *kept = keep_text(report, shown.text, shown.length, STATEMENT_MAX);

	strbuf_deinit(&shown);
	return kept;
}

static char *caller_of(struct report_sink *report, const struct call_values *values)
{
	const struct code_names *code = report->target.code;
	const struct record *record = values->entry ? values->entry : values->end;
	_cleanup_free_ char *place = code && code->place && record->pc
					     ? code->place(code->context, record->pid, record->pc)
					     : NULL;

	return place ? keep_text(report, place, strlen(place), TEXT_MAX) : NULL;
}

/* Returns a copy of the call with its texts, which has one user. */
static struct report_call *copy_call(struct report_sink *report, const struct report_call *call,
				     struct call_values *values)
{
	struct report_call *copy = xmemdup(call, sizeof *call);

	copy->users = 1;
	copy->arguments = arguments_of(report, values);
	copy->result = result_of(report, values);
	copy->statement = statement_of(report, call, values);
	copy->caller = caller_of(report, values);
	return copy;
}

/* ------------------------------------------------------------------ lists */

/* A list that may want a call. */
struct list {
	struct report_slowest *slowest;
	unsigned most;
};

void report_calls_keep(struct report_sink *report, struct report_row *const *rows,
		       const struct report_call *call, unsigned column, struct call_values *values)
{
	struct list lists[REPORT_TABLES + 2];
	struct report_call *kept = NULL;
	unsigned count = 0;

	lists[count++] = (struct list){&report->slowest, REPORT_SLOWEST};
	lists[count++] = (struct list){report_cells_at(&report->cells, column, call->duration),
				       REPORT_CELL_CALLS};
	for (unsigned i = 0; i < REPORT_TABLES; i++)
		if (rows[i])
			lists[count++] = (struct list){&rows[i]->slowest, REPORT_ROW_CALLS};
	for (unsigned i = 0; i < count; i++) {
		if (!report_slowest_wants(lists[i].slowest, lists[i].most, call->duration))
			continue;
		if (!kept)
			kept = copy_call(report, call, values);
		report_slowest_add(lists[i].slowest, lists[i].most, kept);
	}
	report_call_release(kept);
}

void report_calls_keep_unfinished(struct report_sink *report, const struct report_call *call,
				  struct call_values *values)
{
	struct report_call *kept;

	if (report->unfinished.count >= REPORT_UNFINISHED_MAX) {
		report->unfinished_left_out++;
		return;
	}
	kept = copy_call(report, call, values);
	vec_push(&report->unfinished, &kept);
}

static int compare_depths(const void *left, const void *right)
{
	const struct report_call *const *one = left, *const *other = right;

	return (*one)->depth > (*other)->depth ? -1 : (*one)->depth < (*other)->depth;
}

struct report_call **report_calls_unfinished(const struct report_sink *report, size_t *count)
{
	struct report_call **calls = report->unfinished.items;

	*count = report->unfinished.count;
	if (*count)
		qsort(calls, *count, sizeof *calls, compare_depths);
	return calls;
}

void report_calls_deinit(struct report_sink *report)
{
	for (size_t i = 0; i < report->unfinished.count; i++)
		report_call_release(*(struct report_call **)vec_at(&report->unfinished, i));
	vec_deinit(&report->unfinished);
	report_slowest_deinit(&report->slowest);
	report_cells_deinit(&report->cells);
}
