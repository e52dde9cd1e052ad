/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of JSON for each call that has ended, and for each other event of a trace. doc/JSON.md
 * describes the members. The sink gets calls as a whole (whole_calls.c).
 */
#include "sink/forms/json.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "sink/forms/json_line.h"
#include "sink/forms/json_text.h"
#include "sink/forms/json_value.h"
#include "sink/render/signame.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>
#include <string.h>

struct json_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct json_sink * */
	struct sink_target target;
	struct render_options render;
	struct outbuf out;
};

static struct json_sink *json_of(struct sink *sink)
{
	return (struct json_sink *)(void *)sink;
}

/* Begins an object with what all of them have. */
static void begin(struct json_sink *json, const char *type, const struct record *record)
{
	struct outbuf *out = &json->out;

	json_line_begin(out, type, record->time);
	if (record->pid) {
		outbuf_text(out, ",\"pid\":");
		outbuf_signed(out, record->pid);
	}
	if (record->tid) {
		outbuf_text(out, ",\"tid\":");
		outbuf_signed(out, record->tid);
	}
}

static int end(struct json_sink *json)
{
	json_line_end(&json->out);
	return outbuf_flush_full(&json->out);
}

static void put_member(struct outbuf *out, const char *name, const char *text)
{
	json_line_put_member(out, name);
	json_text_put_name(out, text);
}

/* ------------------------------------------------------------------ calls */

static void put_caller(struct json_sink *json, const struct record *record)
{
	_cleanup_free_ char *place = render_caller(json->target.code, record);

	if (place)
		put_member(&json->out, "caller", place);
}

/* {"file":…,"line":…,"function":…}, of what is known. */
static void put_frame(struct outbuf *out, const struct stack_frame *frame)
{
	const char *before = "{";

	if (frame->function) {
		outbuf_text(out, "{\"function\":");
		json_text_put_name(out, frame->function);
		before = ",";
	}
	if (frame->kind == STACK_NATIVE && frame->module) {
		outbuf_text(out, before);
		outbuf_text(out, "\"module\":");
		json_text_put_name(out, frame->module);
		before = ",";
	}
	if (frame->file) {
		outbuf_text(out, before);
		outbuf_text(out, "\"file\":");
		json_text_put_name(out, frame->file);
		before = ",";
	}
	if (frame->line) {
		outbuf_text(out, before);
		outbuf_text(out, "\"line\":");
		outbuf_unsigned(out, frame->line, 1, ' ');
		before = ",";
	}
	if (frame->kind == STACK_NATIVE) {
		outbuf_text(out, before);
		outbuf_text(out, "\"address\":");
		json_text_put_pointer(out, frame->address);
		before = ",";
	}
	outbuf_text(out, *before == '{' ? "{}" : "}");
}

static void put_stack(struct json_sink *json, const struct record *record)
{
	const struct output_options *options = json->target.options;
	const struct stack_frame *line = NULL, *frames = NULL;
	struct outbuf *out = &json->out;
	size_t count = 0;
	unsigned shown = 0;

	if (!json->target.stacks || !record->stack)
		return;
	if (options->script_line || options->takes_lines)
		line = stack_lines_choose(json->target.stacks, record->stack, options);
	if (line) {
		outbuf_text(out, ",\"line\":");
		put_frame(out, line);
	}
	if (!options->where)
		return;
	frames = stack_table_get(json->target.stacks, record->stack, &count);
	outbuf_text(out, ",\"stack\":[");
	for (size_t i = 0; i < count && shown < options->where; i++) {
		if (frames[i].is_place || frames[i].kind == STACK_NOTE ||
		    (frames[i].kind == STACK_SCRIPT ? !options->where_script
						    : !options->where_native))
			continue;
		outbuf_text(out, shown++ ? "," : "");
		put_frame(out, &frames[i]);
	}
	outbuf_char(out, ']');
}

static void put_arguments(struct json_sink *json, const struct prototype *prototype,
			  const struct record *entry, const struct record *returned)
{
	const unsigned count = render_entry_count(prototype);
	bool any = false;

	if (prototype->is_unknown)
		return;
	outbuf_text(&json->out, ",\"args\":[");
	if (entry) {
		struct value_cursor cursor = value_cursor_start(entry);

		json_value_put_arguments(&json->out, prototype, 0, count, &cursor, &json->render,
					 &any);
	}
	if (returned && entry) {
		struct value_cursor cursor = value_cursor_start(returned);

		render_skip_result(prototype, &cursor);
		json_value_put_arguments(&json->out, prototype, count, prototype->parameter_count,
					 &cursor, &json->render, &any);
	}
	outbuf_char(&json->out, ']');
}

static void put_end(struct json_sink *json, const struct probe_info *probe,
		    const struct record *returned)
{
	struct value_cursor cursor = value_cursor_start(returned);
	const bool is_error = probe && probe->kind == PROBE_SYSTEM && returned->number > 0;

	if (is_error)
		outbuf_text(&json->out, ",\"result\":-1,\"errno\":");
	if (is_error)
		outbuf_signed(&json->out, returned->number);
	else if (probe)
		json_value_put_result(&json->out, probe->prototype, &cursor, &json->render);
	outbuf_text(&json->out, ",\"duration_ns\":");
	json_text_put_unsigned(&json->out, returned->duration);
	if (returned->number == RECORD_SINCE_ATTACH)
		outbuf_text(&json->out, ",\"since_attach\":true");
}

static int json_call(struct sink *sink, const struct record *entry, const struct record *ending)
{
	struct json_sink *json = json_of(sink);
	const struct record *record = entry ? entry : ending;
	const struct record *returned = ending && ending->kind == RECORD_RETURN ? ending : NULL;
	const struct probe_info *probe = probe_table_get(json->target.probes, record->probe);

	begin(json, returned ? "call" : ending ? "unwound" : "unfinished", record);
	if (probe) {
		put_member(&json->out, "function", probe->name);
		put_member(&json->out, "module", probe->module);
	}
	put_caller(json, record);
	outbuf_text(&json->out, ",\"depth\":");
	outbuf_unsigned(&json->out, record->depth, 1, ' ');
	if (probe)
		put_arguments(json, probe->prototype, entry, returned);
	if (returned)
		put_end(json, probe, returned);
	put_stack(json, record);
	return end(json);
}

/* ------------------------------------------------------------------ other events */

static void put_number(struct json_sink *json, const char *name, int64_t number)
{
	json_line_put_member(&json->out, name);
	json_text_put_signed(&json->out, number);
}

static void put_signal(struct json_sink *json, const struct record *record)
{
	outbuf_text(&json->out, ",\"signal\":\"");
	signame_put(&json->out, record->number);
	outbuf_char(&json->out, '"');
}

static int json_record(struct sink *sink, const struct record *record)
{
	struct json_sink *json = json_of(sink);

	switch (record->kind) {
	case RECORD_SIGNAL:
		begin(json, "signal", record);
		put_signal(json, record);
		break;
	case RECORD_EXITED:
		begin(json, "exit", record);
		put_number(json, "status", record->number);
		break;
	case RECORD_KILLED:
		begin(json, "exit", record);
		put_signal(json, record);
		break;
	case RECORD_EXEC:
		begin(json, "exec", record);
		break;
	case RECORD_UNTRACED:
		begin(json, "untraced", record);
		json_line_put_untraced(&json->out, record);
		break;
	case RECORD_PROBES:
		if (!record->duration)
			return 0;
		begin(json, "lost", record);
		json_line_put_member(&json->out, "calls");
		json_text_put_unsigned(&json->out, record->duration);
		break;
	default:
		return 0;
	}
	return end(json);
}

/* ------------------------------------------------------------------ the sink */

static int json_flush(struct sink *sink)
{
	return outbuf_flush(&json_of(sink)->out);
}

static void json_destroy(struct sink *sink)
{
	outbuf_deinit(&json_of(sink)->out);
	free(json_of(sink));
}

static const struct sink_ops json_ops = {
	.record = json_record,
	.call = json_call,
	.flush = json_flush,
	.finish = json_flush,
	.destroy = json_destroy,
};

struct sink *json_sink_create(const struct sink_target *target)
{
	const struct output_options *options = target->options;
	struct json_sink *json = xcalloc(1, sizeof *json);

	json->sink.ops = &json_ops;
	json->target = *target;
	json->render = (struct render_options){.string_max = options->string_max,
					       .array_max = options->array_max,
					       .utf8 = true,
					       .code = target->code};
	outbuf_init(&json->out, target->fd);
	json->out.patience = &options->patience;
	return &json->sink;
}
