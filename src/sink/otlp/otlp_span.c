/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call as a span of OpenTelemetry, in OTLP/JSON: the JSON form of the protocol's Span message
 * (opentelemetry-proto, docs/specification.md, "JSON Protobuf Encoding"). Ids are hexadecimal,
 * enumerations are numbers, 64-bit integers are decimal strings.
 *
 * Names of attributes are those of the semantic conventions, where these have one: code.*, db.*,
 * error.type, thread.id. What they have no name for begins with "tracer.": tracer.argument.NAME (or
 * its number, from 1, if the prototype has no name, or had that name before), tracer.result,
 * tracer.duration_ns, and others that doc/FLEET.md lists.
 *
 * Values are those of --format=json. An attribute that is an object or an array is its JSON as a
 * string, because stores of spans search strings and numbers only. An argument that is a statement
 * of a database is not repeated among the arguments.
 *
 * A span lasts from entry to end by the clock: without what the tracer took in between, spans would
 * not lie in their parents. A call that does not end lasts until that is known.
 */
#include "sink/otlp/otlp_span.h"

#include "sink/forms/json_text.h"
#include "sink/forms/json_value.h"
#include "sink/otlp/db_functions.h"
#include "sink/render/errname.h"
#include "sink/render/utf8.h"
#include "sink/stacks/stack_lines.h"

#include <string.h>

/* The enumerations Span.SpanKind and Status.StatusCode of the protocol. */
enum { KIND_INTERNAL = 1, KIND_CLIENT = 3, STATUS_ERROR = 2 };

/* ------------------------------------------------------------------ attributes */

/* Begins an attribute; the caller writes the value and the two closing braces. */
static void begin_attribute(struct outbuf *out, const char *key)
{
	outbuf_text(out, out->text[out->length - 1] == '[' ? "{\"key\":\"" : ",{\"key\":\"");
	outbuf_text(out, key);
	outbuf_text(out, "\",\"value\":{");
}

static void put_text(struct outbuf *out, const char *key, const void *text, size_t length)
{
	begin_attribute(out, key);
	outbuf_text(out, "\"stringValue\":");
	json_text_put(out, text, length);
	outbuf_text(out, "}}");
}

static void put_name(struct outbuf *out, const char *key, const char *text)
{
	if (text)
		put_text(out, key, text, strlen(text));
}

static void put_integer(struct outbuf *out, const char *key, int64_t number)
{
	begin_attribute(out, key);
	outbuf_text(out, "\"intValue\":\"");
	outbuf_signed(out, number);
	outbuf_text(out, "\"}}");
}

static void put_true(struct outbuf *out, const char *key)
{
	begin_attribute(out, key);
	outbuf_text(out, "\"boolValue\":true}}");
}

/* ------------------------------------------------------------------ values */

/* Returns true for a 64-bit integer that JSON has as a string, and that intValue can hold. */
static bool is_large_integer(const struct type *type, const char *json, size_t length)
{
	static const char most[] = "9223372036854775807";

	if (type->kind != TYPE_INT || length < 3 || strspn(json + 1, "-0123456789") < length - 2)
		return false;
	return json[1] == '-' || length - 2 < sizeof most - 1 ||
	       (length - 2 == sizeof most - 1 && memcmp(json + 1, most, sizeof most - 1) <= 0);
}

/* Writes a double: JSON of protobuf has words for what is no number. */
static void put_double(struct outbuf *out, const char *json, size_t length)
{
	outbuf_text(out, "\"doubleValue\":");
	if (*json != '"')
		outbuf_bytes(out, json, length);
	else if (memchr(json, 'n', length) && !memchr(json, 'a', length))
		outbuf_text(out, json[1] == '-' ? "\"-Infinity\"" : "\"Infinity\"");
	else
		outbuf_text(out, "\"NaN\"");
}

/* Writes a value that was written as JSON to `json` as an AnyValue of the protocol. */
static void put_any(struct outbuf *out, const struct type *type, const struct outbuf *json)
{
	const char first = json->length ? json->text[0] : 'n';

	if (first == 'n') {
		outbuf_text(out, "\"stringValue\":\"nil\"");
	} else if (type->kind == TYPE_FLOAT) {
		put_double(out, json->text, json->length);
	} else if (first == 't' || first == 'f') {
		outbuf_text(out, "\"boolValue\":");
		outbuf_bytes(out, json->text, json->length);
	} else if (first == '"' && is_large_integer(type, json->text, json->length)) {
		outbuf_text(out, "\"intValue\":");
		outbuf_bytes(out, json->text, json->length);
	} else if (first == '"') {
		outbuf_text(out, "\"stringValue\":");
		outbuf_bytes(out, json->text, json->length);
	} else if (first == '{' || first == '[') {
		outbuf_text(out, "\"stringValue\":");
		json_text_put(out, json->text, json->length);
	} else {
		outbuf_text(out, "\"intValue\":\"");
		outbuf_bytes(out, json->text, json->length);
		outbuf_char(out, '"');
	}
}

/* What is needed to write the values of one call. */
struct values {
	struct outbuf *out;
	struct outbuf json; /* one value */
	struct render_options render;
	const struct prototype *prototype;
	unsigned statement; /* number of the argument that is one; 0: none */
	unsigned in_format; /* how many arguments of a format were written */
	bool is_cut;
};

/* Returns true if a parameter before that one has the same name. */
static bool is_named_before(const struct prototype *prototype, const struct parameter *parameter)
{
	for (const struct parameter *one = prototype->parameters; one < parameter; one++)
		if (one->name && !strcmp(one->name, parameter->name))
			return true;
	return false;
}

/* Begins the attribute of an argument. A name may be of debug information, and hold anything. */
static void begin_argument(struct values *values, const struct json_values *at)
{
	struct outbuf *out = values->out;
	const struct parameter *parameter = at->parameter;

	outbuf_text(out, ",{\"key\":\"tracer.argument.");
	if (parameter && parameter->name && !is_named_before(values->prototype, parameter)) {
		const size_t start = out->length;

		json_text_put_name(out, parameter->name);
		memmove(out->text + start, out->text + start + 1, out->length - start - 1);
		out->length--;
	} else {
		/* Arguments of a format are numbered on from those of the prototype. */
		outbuf_unsigned(out,
				parameter
					? at->index
					: values->prototype->parameter_count + ++values->in_format,
				1, ' ');
		outbuf_char(out, '"');
	}
	outbuf_text(out, ",\"value\":{");
}

static void put_argument(struct values *values, const struct json_values *at, bool is_cut)
{
	if (at->parameter && at->index == values->statement)
		return;
	values->is_cut |= is_cut;
	begin_argument(values, at);
	put_any(values->out, at->type, &values->json);
	outbuf_text(values->out, "}}");
}

static void put_arguments(struct values *values, unsigned first, unsigned last,
			  struct value_cursor *cursor)
{
	struct json_values at = json_value_begin(&values->json, values->prototype, first, last,
						 cursor, &values->render);

	while (json_value_next(&at)) {
		const bool is_cut = json_value_is_cut(at.value, &values->render);

		values->json.length = 0;
		json_value_put(&at);
		put_argument(values, &at, is_cut);
	}
}

/* json_value_put_result() writes a member: `,"result":…`. */
static void put_result(struct values *values, struct value_cursor *cursor)
{
	static const char before[] = ",\"result\":";

	values->json.length = 0;
	if (!json_value_put_result(&values->json, values->prototype, cursor, &values->render))
		return;
	values->json.length -= sizeof before - 1;
	memmove(values->json.text, values->json.text + sizeof before - 1, values->json.length);
	begin_attribute(values->out, "tracer.result");
	put_any(values->out, values->prototype->result, &values->json);
	outbuf_text(values->out, "}}");
}

static void put_values(struct outbuf *out, const struct otlp_span *span,
		       const struct probe_info *probe, const struct db_function *db)
{
	const struct output_options *options = span->target->options;
	const unsigned count = render_entry_count(probe->prototype);
	const struct record *end = span->end && span->end->kind == RECORD_RETURN ? span->end : NULL;
	struct values values = {.out = out,
				.render = {.string_max = options->string_max,
					   .array_max = options->array_max,
					   .utf8 = true,
					   .code = span->target->code},
				.prototype = probe->prototype,
				.statement = db ? db->statement : 0};

	if (probe->prototype->is_unknown)
		return;
	outbuf_init(&values.json, -1);
	if (span->entry) {
		struct value_cursor cursor = value_cursor_start(span->entry);

		put_arguments(&values, 0, count, &cursor);
	}
	if (end) {
		struct value_cursor cursor = value_cursor_start(end);

		if (probe->kind != PROBE_SYSTEM || end->number <= 0)
			put_result(&values, &cursor);
		if (span->entry) {
			cursor = value_cursor_start(end);
			render_skip_result(probe->prototype, &cursor);
			put_arguments(&values, count, probe->prototype->parameter_count, &cursor);
		}
	}
	if (values.is_cut)
		put_true(out, "tracer.cut");
	outbuf_deinit(&values.json);
}

/* ------------------------------------------------------------------ what is known of a call */

/* db.system.name, and the statement as a whole, though -s may say that less is shown. */
static void put_statement(struct outbuf *out, const struct db_function *db,
			  struct call_values *values)
{
	const struct expression argument = {.kind = EXPRESSION_NAME,
					    .name = NAME_ARGUMENT,
					    .number = db->statement,
					    .steps = VEC_OF(struct expression_step)};

	put_name(out, "db.system.name", db->system);
	if (!db->statement)
		return;
	const struct expression_value text = call_values_get(values, &argument);

	if (text.type != EXPRESSION_TEXT)
		return;
	put_text(out, "db.query.text", text.text,
		 text.length - (text.is_cut ? utf8_unfinished((const unsigned char *)text.text,
							      text.length)
					    : 0));
	if (text.is_cut)
		put_true(out, "tracer.statement.cut");
}

/* -W: the line of the script that made the call. */
static void put_line(struct outbuf *out, const struct otlp_span *span, const struct record *record)
{
	const struct sink_target *target = span->target;
	const struct stack_frame *line = NULL;

	if (target->stacks && record->stack &&
	    (target->options->script_line || target->options->takes_lines))
		line = stack_lines_choose(target->stacks, record->stack, target->options);
	if (!line)
		return;
	put_name(out, "code.file.path", line->file);
	put_integer(out, "code.line.number", line->line);
	put_name(out, "tracer.line.function", line->function);
}

/* -w: the frames, as they are below a line of the trace. */
static void put_stack(struct outbuf *out, const struct otlp_span *span, const struct record *record)
{
	const struct sink_target *target = span->target;
	struct outbuf lines;

	if (!target->stacks || !record->stack || !target->options->where)
		return;
	outbuf_init(&lines, -1);
	stack_lines_put_frames(&lines, target->stacks, record->stack, target->options);
	if (lines.length)
		put_text(out, "code.stacktrace", lines.text, lines.length - 1);
	outbuf_deinit(&lines);
}

/* error.type: the name of a system call's error; else what the function has returned. */
static void put_failure(struct outbuf *out, const struct otlp_span *span,
			struct call_values *values)
{
	static const struct expression result = {.kind = EXPRESSION_NAME,
						 .name = NAME_RESULT,
						 .steps = VEC_OF(struct expression_step)};

	if (values->probe->kind == PROBE_SYSTEM) {
		const char *name = errname_find(span->end->number);

		put_name(out, "error.type", name ? name : "_OTHER");
		return;
	}
	const struct expression_value value = call_values_get(values, &result);
	const bool is_number = value.type == EXPRESSION_SIGNED || value.type == EXPRESSION_UNSIGNED;
	struct strbuf text = {0};

	if (is_number && !value.is_unreadable)
		call_values_add(&text, &value);
	put_name(out, "error.type", text.text ? text.text : "_OTHER");
	strbuf_deinit(&text);
}

/* What became of the call, if it did not just return. */
static void put_end(struct outbuf *out, const struct otlp_span *span)
{
	if (!span->end) {
		put_true(out, "tracer.unfinished");
	} else if (span->end->kind != RECORD_RETURN) {
		put_true(out, "tracer.unwound");
	} else {
		put_integer(out, "tracer.duration_ns", (int64_t)span->end->duration);
		if (span->end->number == RECORD_SINCE_ATTACH)
			put_true(out, "tracer.since_attach");
		else if (span->end->number == RECORD_INHERITED)
			put_true(out, "tracer.inherited");
	}
}

static void put_attributes(struct outbuf *out, const struct otlp_span *span,
			   struct call_values *values, const struct db_function *db, bool failed)
{
	const struct record *record = span->entry ? span->entry : span->end;

	outbuf_text(out, ",\"attributes\":[");
	put_integer(out, "thread.id", record->tid);
	if (values->probe) {
		put_name(out, "code.function.name", values->probe->name);
		put_name(out, "tracer.module", values->probe->module);
	}
	if (db)
		put_statement(out, db, values);
	put_line(out, span, record);
	put_stack(out, span, record);
	if (values->probe)
		put_values(out, span, values->probe, db);
	put_end(out, span);
	if (failed)
		put_failure(out, span, values);
	outbuf_char(out, ']');
	if (failed) {
		outbuf_text(out, ",\"status\":{\"code\":");
		outbuf_unsigned(out, STATUS_ERROR, 1, ' ');
		outbuf_char(out, '}');
	}
}

/* ------------------------------------------------------------------ the span */

static void put_id(struct outbuf *out, uint64_t id)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned shift = 64; shift; shift -= 4)
		outbuf_char(out, digits[id >> (shift - 4) & 15]);
}

static void put_time(struct outbuf *out, const char *name, uint64_t time)
{
	outbuf_text(out, ",\"");
	outbuf_text(out, name);
	outbuf_text(out, "\":\"");
	outbuf_unsigned(out, time, 1, ' ');
	outbuf_char(out, '"');
}

static void put_ids(struct outbuf *out, const struct otlp_id *id)
{
	outbuf_text(out, "{\"traceId\":\"");
	put_id(out, id->trace[0]);
	put_id(out, id->trace[1]);
	outbuf_text(out, "\",\"spanId\":\"");
	put_id(out, id->span);
	if (id->parent) {
		outbuf_text(out, "\",\"parentSpanId\":\"");
		put_id(out, id->parent);
	}
	outbuf_text(out, "\",\"name\":");
}

void otlp_span_put(struct outbuf *out, const struct otlp_span *span)
{
	const struct record *end = span->end;
	const uint64_t begun = span->entry		   ? span->entry->time
			       : end->duration < end->time ? end->time - end->duration
							   : end->time;
	const uint64_t over = end ? end->time : span->now;
	struct call_values values;

	call_values_begin(&values, span->target, span->entry, end);
	const struct db_function *db = values.probe ? db_functions_find(values.probe) : NULL;
	const bool failed = failures_has_failed(span->failures, &values);

	put_ids(out, &span->id);
	json_text_put_name(out, values.probe ? values.probe->name : "?");
	outbuf_text(out, ",\"kind\":");
	outbuf_unsigned(out, db ? KIND_CLIENT : KIND_INTERNAL, 1, ' ');
	put_time(out, "startTimeUnixNano", begun);
	put_time(out, "endTimeUnixNano", over > begun ? over : begun);
	put_attributes(out, span, &values, db, failed);
	outbuf_char(out, '}');
	call_values_end(&values);
}
