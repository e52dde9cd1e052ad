/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comma-separated values (csv_text.c), a line for each call that has ended; doc/JSON.md has the
 * columns. Signals and the ends of processes have no line, since they have no column either.
 *
 * Arguments are one field, with the text that the lines of a trace have, as functions differ in
 * what they take. The sink gets calls as a whole (whole_calls.c).
 */
#include "sink/forms/csv.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sink/forms/csv_text.h"
#include "sink/render/render.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>

struct csv_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct csv_sink * */
	struct sink_target target;
	struct render_options render;
	struct outbuf out;
};

static struct csv_sink *csv_of(struct sink *sink)
{
	return (struct csv_sink *)(void *)sink;
}

static void put_heading(struct outbuf *out)
{
	static const char *const columns[] = {
		"time",	  "type",	 "pid",	  "tid",  "function",
		"module", "caller",	 "depth", "args", "result",
		"errno",  "duration_ns", "file",  "line", "line_function",
	};
	struct csv_line line = csv_line_begin(out);

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		csv_field_text(&line, columns[i]);
	csv_line_end(&line);
}

static void put_caller(const struct csv_sink *csv, struct csv_line *line,
		       const struct record *record)
{
	_cleanup_free_ char *place = render_caller(csv->target.code, record);

	csv_field_name(line, place);
}

static void put_arguments(const struct csv_sink *csv, struct csv_line *line,
			  const struct prototype *prototype, const struct record *entry,
			  const struct record *returned)
{
	const unsigned count = render_entry_count(prototype);

	csv_field_begin(line);
	if (entry) {
		struct value_cursor cursor = value_cursor_start(entry);

		render_arguments(line->out, prototype, 0, count, &cursor, &csv->render);
	}
	if (entry && returned) {
		struct value_cursor cursor = value_cursor_start(returned);

		render_skip_result(prototype, &cursor);
		render_arguments(line->out, prototype, count, prototype->parameter_count, &cursor,
				 &csv->render);
	}
	csv_field_end(line);
}

/* Puts the result, the error, and the duration. */
static void put_end(const struct csv_sink *csv, struct csv_line *line,
		    const struct probe_info *probe, const struct record *returned)
{
	const bool has_failed = probe->kind == PROBE_SYSTEM && returned->number > 0;
	const struct type *type = probe->prototype->result;
	struct value_cursor cursor = value_cursor_start(returned);

	if (has_failed) {
		csv_field_text(line, "-1");
		csv_field_signed(line, returned->number);
	} else {
		csv_field_begin(line);
		if (!probe->prototype->is_unknown && type->kind != TYPE_VOID && !type->is_hidden)
			render_result(line->out, probe->prototype, &cursor, &csv->render);
		csv_field_end(line);
		csv_field_empty(line);
	}
	csv_field_unsigned(line, returned->duration);
}

static void put_script_line(const struct csv_sink *csv, struct csv_line *line,
			    const struct record *record)
{
	const struct output_options *options = csv->target.options;
	const bool is_known = csv->target.stacks && record->stack && options->script_line;
	const struct stack_frame *frame =
		is_known ? stack_lines_choose(csv->target.stacks, record->stack, options) : NULL;

	csv_field_name(line, frame && frame->file ? stack_lines_file(frame, options) : NULL);
	if (frame && frame->line)
		csv_field_unsigned(line, frame->line);
	else
		csv_field_empty(line);
	csv_field_name(line, frame ? frame->function : NULL);
}

static int csv_call(struct sink *sink, const struct record *entry, const struct record *ending)
{
	const struct csv_sink *csv = csv_of(sink);
	const struct record *record = entry ? entry : ending;
	const struct record *returned = ending && ending->kind == RECORD_RETURN ? ending : NULL;
	const struct probe_info *probe = probe_table_get(csv->target.probes, record->probe);
	struct csv_line line = csv_line_begin(&csv_of(sink)->out);

	csv_field_time(&line, record->time);
	csv_field_text(&line, returned ? "call" : ending ? "unwound" : "unfinished");
	csv_field_signed(&line, record->pid);
	csv_field_signed(&line, record->tid);
	csv_field_name(&line, probe ? probe->name : NULL);
	csv_field_name(&line, probe ? probe->module : NULL);
	put_caller(csv, &line, record);
	csv_field_unsigned(&line, record->depth);
	if (probe)
		put_arguments(csv, &line, probe->prototype, entry, returned);
	else
		csv_field_empty(&line);
	if (probe && returned)
		put_end(csv, &line, probe, returned);
	for (unsigned i = 0; i < 3 && !(probe && returned); i++)
		csv_field_empty(&line);
	put_script_line(csv, &line, record);
	csv_line_end(&line);
	return outbuf_flush_full(&csv_of(sink)->out);
}

static int csv_record(struct sink *sink, const struct record *record)
{
	(void)sink;
	(void)record;
	return 0;
}

static int csv_flush(struct sink *sink)
{
	return outbuf_flush(&csv_of(sink)->out);
}

static void csv_destroy(struct sink *sink)
{
	outbuf_deinit(&csv_of(sink)->out);
	free(csv_of(sink));
}

static const struct sink_ops csv_ops = {
	.record = csv_record,
	.call = csv_call,
	.flush = csv_flush,
	.finish = csv_flush,
	.destroy = csv_destroy,
};

struct sink *csv_sink_create(const struct sink_target *target)
{
	const struct output_options *options = target->options;
	struct csv_sink *csv = xcalloc(1, sizeof *csv);

	csv->sink.ops = &csv_ops;
	csv->target = *target;
	csv->render = (struct render_options){.string_max = options->string_max,
					      .array_max = options->array_max,
					      .names = options->parameter_names,
					      .utf8 = true,
					      .code = target->code};
	outbuf_init(&csv->out, target->fd);
	csv->out.patience = &options->patience;
	if (!target->has_begun || !*target->has_begun)
		put_heading(&csv->out);
	if (target->has_begun)
		*target->has_begun = true;
	return &csv->sink;
}
