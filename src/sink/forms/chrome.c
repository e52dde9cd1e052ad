/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Trace Event format, as a JSON array, for viewers of time lines (Perfetto, chrome://tracing,
 * speedscope).
 *
 * A call is a complete event ("X") of its thread: viewers nest those that lie in each other. A span
 * need not lie in anything, so it is a pair of asynchronous events ("b", "e"). A call that does not
 * end is a begin ("B") without an end. Signals are instants ("i"). Threads are named ("M") when
 * they are seen first.
 *
 * An event lasts from the entry to the end by the clock, with what the tracer took in between: if
 * that was taken off, calls would not lie in those that made them. The duration without it is
 * among the values.
 *
 * Times are in microseconds, with three decimals, since the trace began: viewers read them
 * into doubles, which would not keep the nanoseconds of times since the Epoch.
 */
#include "sink/forms/chrome.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "sink/forms/json_text.h"
#include "sink/forms/json_value.h"
#include "sink/render/signame.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>

enum { NS_PER_US = 1000 };

struct chrome_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct chrome_sink * */
	struct sink_target target;
	struct render_options render;
	struct outbuf out;
	struct map threads; /* tid → this, if its name was written */
	bool has_events;
};

static struct chrome_sink *chrome_of(struct sink *sink)
{
	return (struct chrome_sink *)(void *)sink;
}

static void put_us(struct outbuf *out, uint64_t ns)
{
	outbuf_unsigned(out, ns / NS_PER_US, 1, ' ');
	outbuf_char(out, '.');
	outbuf_unsigned(out, ns % NS_PER_US, 3, '0');
}

/* Begins an event: {"ph":"X","pid":1,"tid":1,"ts":0.000 */
static void begin(struct chrome_sink *chrome, const char *phase, const struct record *record,
		  uint64_t time)
{
	struct outbuf *out = &chrome->out;

	outbuf_text(out, chrome->has_events ? ",\n" : "[\n");
	chrome->has_events = true;
	outbuf_text(out, "{\"ph\":\"");
	outbuf_text(out, phase);
	outbuf_text(out, "\",\"pid\":");
	outbuf_signed(out, record->pid);
	outbuf_text(out, ",\"tid\":");
	outbuf_signed(out, record->tid);
	outbuf_text(out, ",\"ts\":");
	put_us(out, time > chrome->target.begun ? time - chrome->target.begun : 0);
}

static void name_thread(struct chrome_sink *chrome, const struct record *record)
{
	const struct code_names *code = chrome->target.code;
	char name[16] = "";

	if (!record->tid || map_get(&chrome->threads, (uint64_t)record->tid))
		return;
	map_put(&chrome->threads, (uint64_t)record->tid, chrome);
	if (code && code->thread)
		code->thread(code->context, record->tid, name);
	begin(chrome, "M", record, record->time);
	outbuf_text(&chrome->out, ",\"name\":\"thread_name\",\"args\":{\"name\":");
	json_text_put_name(&chrome->out, name);
	outbuf_text(&chrome->out, "}}");
}

/* ------------------------------------------------------------------ calls */

static void put_arguments(struct chrome_sink *chrome, const struct prototype *prototype,
			  const struct record *entry, const struct record *returned)
{
	const unsigned count = render_entry_count(prototype);
	bool any = false;

	outbuf_text(&chrome->out, "\"arguments\":[");
	if (entry && !prototype->is_unknown) {
		struct value_cursor cursor = value_cursor_start(entry);

		json_value_put_arguments(&chrome->out, prototype, 0, count, &cursor,
					 &chrome->render, &any);
	}
	if (entry && returned && !prototype->is_unknown) {
		struct value_cursor cursor = value_cursor_start(returned);

		render_skip_result(prototype, &cursor);
		json_value_put_arguments(&chrome->out, prototype, count, prototype->parameter_count,
					 &cursor, &chrome->render, &any);
	}
	outbuf_char(&chrome->out, ']');
	if (returned) {
		struct value_cursor cursor = value_cursor_start(returned);

		json_value_put_result(&chrome->out, prototype, &cursor, &chrome->render);
	}
}

static void put_line(struct chrome_sink *chrome, const struct record *record)
{
	const struct output_options *options = chrome->target.options;
	struct strbuf text = {0};

	if (!options->script_line || !chrome->target.stacks || !record->stack)
		return;
	stack_lines_add_place(&text, chrome->target.stacks, record->stack, options);
	if (text.length) {
		outbuf_text(&chrome->out, ",\"line\":");
		json_text_put(&chrome->out, text.text + 4, text.length - 4); /* " at " */
	}
	strbuf_deinit(&text);
}

/* Ends an event with the name of the function, its values, and its line. */
static void end_call(struct chrome_sink *chrome, const struct probe_info *probe,
		     const struct record *entry, const struct record *ending)
{
	const struct record *returned = ending && ending->kind == RECORD_RETURN ? ending : NULL;

	outbuf_text(&chrome->out, ",\"name\":");
	json_text_put_name(&chrome->out, probe ? probe->name : "?");
	outbuf_text(&chrome->out, ",\"cat\":");
	json_text_put_name(&chrome->out, probe ? probe->module : "?");
	outbuf_text(&chrome->out, ",\"args\":{");
	put_arguments(chrome, probe ? probe->prototype : prototype_unknown(), entry, returned);
	if (returned) {
		outbuf_text(&chrome->out, ",\"duration_ns\":");
		json_text_put_unsigned(&chrome->out, returned->duration);
	} else if (ending) {
		outbuf_text(&chrome->out, ",\"unwound\":true");
	}
	put_line(chrome, entry ? entry : ending);
	outbuf_text(&chrome->out, "}}");
}

static void put_id(struct chrome_sink *chrome, const struct record *record)
{
	outbuf_text(&chrome->out, ",\"id\":\"");
	outbuf_hex(&chrome->out, record->call);
	outbuf_char(&chrome->out, '"');
}

static int chrome_call(struct sink *sink, const struct record *entry, const struct record *ending)
{
	struct chrome_sink *chrome = chrome_of(sink);
	const struct record *record = entry ? entry : ending;
	const struct probe_info *probe = probe_table_get(chrome->target.probes, record->probe);
	const uint64_t begun = entry ? entry->time : ending->time - ending->duration;
	const uint64_t ended = ending && ending->time > begun ? ending->time : begun;
	const bool is_span = record_is_span(record);

	name_thread(chrome, record);
	begin(chrome, is_span ? "b" : ending ? "X" : "B", record, begun);
	if (is_span)
		put_id(chrome, record);
	else if (ending)
		outbuf_text(&chrome->out, ",\"dur\":");
	if (!is_span && ending)
		put_us(&chrome->out, ended - begun);
	end_call(chrome, probe, entry, ending);
	if (is_span && ending) {
		begin(chrome, "e", record, ended);
		put_id(chrome, record);
		outbuf_text(&chrome->out, ",\"name\":");
		json_text_put_name(&chrome->out, probe ? probe->name : "?");
		outbuf_text(&chrome->out, ",\"cat\":");
		json_text_put_name(&chrome->out, probe ? probe->module : "?");
		outbuf_char(&chrome->out, '}');
	}
	return outbuf_flush_full(&chrome->out);
}

/* ------------------------------------------------------------------ other events */

static int chrome_record(struct sink *sink, const struct record *record)
{
	struct chrome_sink *chrome = chrome_of(sink);

	if (record->kind != RECORD_SIGNAL)
		return 0;
	name_thread(chrome, record);
	begin(chrome, "i", record, record->time);
	outbuf_text(&chrome->out, ",\"s\":\"t\",\"cat\":\"signal\",\"name\":\"");
	signame_put(&chrome->out, record->number);
	outbuf_text(&chrome->out, "\"}");
	return outbuf_flush_full(&chrome->out);
}

static int chrome_flush(struct sink *sink)
{
	return outbuf_flush(&chrome_of(sink)->out);
}

static int chrome_finish(struct sink *sink)
{
	struct chrome_sink *chrome = chrome_of(sink);

	outbuf_text(&chrome->out, chrome->has_events ? "\n]\n" : "[]\n");
	return outbuf_flush(&chrome->out);
}

static void chrome_destroy(struct sink *sink)
{
	struct chrome_sink *chrome = chrome_of(sink);

	outbuf_deinit(&chrome->out);
	map_deinit(&chrome->threads);
	free(chrome);
}

static const struct sink_ops chrome_ops = {
	.record = chrome_record,
	.call = chrome_call,
	.flush = chrome_flush,
	.finish = chrome_finish,
	.destroy = chrome_destroy,
};

struct sink *chrome_sink_create(const struct sink_target *target)
{
	const struct output_options *options = target->options;
	struct chrome_sink *chrome = xcalloc(1, sizeof *chrome);

	chrome->sink.ops = &chrome_ops;
	chrome->target = *target;
	chrome->render = (struct render_options){.string_max = options->string_max,
						 .array_max = options->array_max,
						 .utf8 = true,
						 .code = target->code};
	outbuf_init(&chrome->out, target->fd);
	chrome->out.patience = &options->patience;
	return &chrome->sink;
}
