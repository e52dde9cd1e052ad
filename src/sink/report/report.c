/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --report: one HTML file with what a trace has to tell: the slowest calls, tables, how times are
 * distributed and when, a flame graph and a time line. report/page.html and its scripts show it.
 *
 * The page has to be small enough for a browser, and the tracer for the machine, however long the
 * trace is. So calls are counted when they end, and single ones are kept where they say most: see
 * report_grid.c (time), report_rows.c (tables), report_slowest.c and report_cells.c (calls),
 * report_threads.c (time line) and report_flame.c. What is kept is made into text at once, all of
 * it is written at the end (report_put.c).
 */
#include "sink/report/report.h"

#include "base/xalloc.h"
#include "probe/expression.h"
#include "sink/call_values.h"
#include "sink/otlp/db_functions.h"
#include "sink/report/report_calls.h"
#include "sink/report/report_put.h"
#include "sink/report/report_state.h"
#include "sink/stacks/folded.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>
#include <string.h>

static struct report_sink *report_of(struct sink *sink)
{
	return (struct report_sink *)(void *)sink;
}

/* ------------------------------------------------------------------ rows of a call */

static struct report_row *function_of(struct report_sink *report, const struct probe_info *probe,
				      uint32_t id)
{
	struct report_row *row = map_get(&report->functions, (uint64_t)id + 1);
	const char *name = probe ? probe->display : "?";

	if (row)
		return row;
	row = report_rows_get(&report->tables[REPORT_FUNCTIONS], name, strlen(name));
	map_put(&report->functions, (uint64_t)id + 1, row);
	return row;
}

/*
 * Returns the shape of the statement that a function sends, or NULL if it sends none, or one that
 * is not SQL.
 */
static const struct expression *shape_of(struct report_sink *report, const struct probe_info *probe)
{
	const struct expression *shape = map_get(&report->statements, (uint64_t)probe->id + 1);
	const void *none = &report->statements;

	if (!shape) {
		const struct db_function *db = db_functions_find(probe);
		const unsigned argument = db && strcmp(db->system, "redis") ? db->statement : 0;

		shape = argument ? report->shapes[argument - 1] : none;
		map_put(&report->statements, (uint64_t)probe->id + 1, (void *)(uintptr_t)shape);
	}
	return shape == none ? NULL : shape;
}

static struct report_row *statement_of(struct report_sink *report, struct call_values *values)
{
	const struct expression *shape = values->probe ? shape_of(report, values->probe) : NULL;

	if (!shape)
		return NULL;
	const struct expression_value text = call_values_get(values, shape);

	return text.type == EXPRESSION_TEXT && text.length
		       ? report_rows_get(&report->tables[REPORT_STATEMENTS], text.text, text.length)
		       : NULL;
}

static struct report_row *line_of(struct report_sink *report, uint32_t stack)
{
	const struct output_options *options = report->target.options;
	struct report_row *row = stack ? map_get(&report->lines, stack) : NULL;
	struct strbuf text = {0};

	if (row || !stack || !report->target.stacks ||
	    !(options->script_line || options->takes_lines))
		return (void *)row == (void *)&report->lines ? NULL : row;
	stack_lines_add_place(&text, report->target.stacks, stack, options);
	if (text.length)
		row = report_rows_get(&report->tables[REPORT_LINES], text.text + strlen(" at "),
				      text.length - strlen(" at "));
	map_put(&report->lines, stack, row ? (void *)row : (void *)&report->lines);
	strbuf_deinit(&text);
	return row;
}

static struct report_row *key_of(struct report_sink *report, struct call_values *values)
{
	const struct vec *keys = report->target.options->keys_text ? report->target.options->keys
								   : NULL;
	struct strbuf key = {0};

	for (size_t i = 0; keys && i < keys->count; i++) {
		const struct expression_value value =
			call_values_get(values, *(struct expression **)vec_at(keys, i));

		strbuf_add(&key, i ? ", " : "");
		call_values_add(&key, &value);
	}
	struct report_row *row = keys ? report_rows_get(&report->tables[REPORT_KEYS],
							key.text ? key.text : "", key.length)
				      : NULL;

	strbuf_deinit(&key);
	return row;
}

/* ------------------------------------------------------------------ calls */

static void see_time(struct report_sink *report, uint64_t time)
{
	if (!report->first || time < report->first)
		report->first = time;
	if (time > report->last)
		report->last = time;
}

/* Returns the column of a time, and moves all counts if it is the first one there. */
static unsigned column_of(struct report_sink *report, uint64_t time)
{
	struct report_move move;

	if (report_grid_cover(&report->grid, time, &move)) {
		for (unsigned i = 0; i < REPORT_TABLES; i++)
			report_rows_move(&report->tables[i], &move);
		report_cells_move(&report->cells, &move);
	}
	return report_grid_column(&report->grid, time);
}

static void count_row(struct report_row *row, const struct report_call *call, unsigned column)
{
	tally_call(&row->tally, call->begun);
	report_count(&row->columns[column]);
	if (call->end != REPORT_RETURNED)
		return;
	tally_time(&row->tally, call->duration);
	tally_bucket(&row->tally, call->duration, 1);
	report_row_heat(row, column, call->duration);
}

/* Adds the call to the flame graph. */
static void add_to_flame(struct report_sink *report, struct report_thread *thread,
			 const struct report_call *call, bool is_span)
{
	const struct sink_target *target = &report->target;
	const struct report_row *function = call->rows[REPORT_FUNCTIONS];
	const bool has_stack = target->options->where && target->stacks && call->stack;
	struct report_ended ended = {
		.name = function->name,
		.begun = call->begun,
		.duration = call->duration,
		.depth = call->depth,
		.is_span = is_span,
		.leaf = has_stack ? (uint64_t)call->stack << 32 | function->index : 0};
	struct strbuf frames = {0};

	if (has_stack && !report_flame_knows(&report->flame, ended.leaf))
		folded_add_frames(&frames, target->stacks, call->stack, target->options);
	ended.frames = frames.text;
	report_flame_add(&report->flame, &thread->pieces, &ended);
	strbuf_deinit(&frames);
}

static struct report_thread *thread_of(struct report_sink *report, int32_t pid, int32_t tid)
{
	const struct code_names *code = report->target.code;
	bool is_new;
	struct report_thread *thread = report_threads_get(&report->threads, pid, tid, &is_new);

	if (is_new && thread != &report->threads.others && code && code->thread)
		code->thread(code->context, tid, thread->name);
	return thread;
}

static void add_to_threads(struct report_sink *report, const struct report_call *call,
			   uint64_t ended, bool is_span)
{
	struct report_thread *thread = thread_of(report, call->pid, call->tid);
	const bool is_alone = is_span || thread == &report->threads.others;

	thread->calls++;
	thread->time += call->duration;
	add_to_flame(report, thread, call, is_alone);
	report_threads_add(&report->threads, thread,
			   &(struct report_slice){.begun = call->begun,
						  .ended = ended,
						  .function = call->rows[REPORT_FUNCTIONS]->index,
						  .depth = is_span ? REPORT_SPAN
							   : call->depth < REPORT_SPAN
								   ? call->depth
								   : REPORT_SPAN - 1});
}

/* Finds the call's rows, and counts it there. */
static void count_call(struct report_sink *report, struct report_call *call,
		       struct call_values *values)
{
	const struct record *record = values->entry ? values->entry : values->end;
	const unsigned column = column_of(report, call->begun);
	struct report_row *rows[REPORT_TABLES] = {
		[REPORT_FUNCTIONS] = function_of(report, values->probe, record->probe),
		[REPORT_STATEMENTS] = statement_of(report, values),
		[REPORT_LINES] = line_of(report, record->stack),
		[REPORT_KEYS] = key_of(report, values)};

	report->calls++;
	report->time += call->duration;
	for (unsigned i = 0; i < REPORT_TABLES; i++) {
		call->rows[i] = rows[i];
		if (rows[i])
			count_row(rows[i], call, column);
	}
	if (call->end == REPORT_UNFINISHED) {
		report->unfinished_calls++;
		report_calls_keep_unfinished(report, call, values);
	} else {
		report->unwound_calls += call->end == REPORT_UNWOUND;
		if (call->end == REPORT_RETURNED)
			report_calls_keep(report, rows, call, column, values);
	}
}

static int report_call(struct sink *sink, const struct record *entry, const struct record *end)
{
	struct report_sink *report = report_of(sink);
	const struct record *record = entry ? entry : end;
	struct call_values values;
	struct report_call call = {.begun = entry			? entry->time
					    : end->time > end->duration ? end->time - end->duration
									: 0,
				   .duration = end && end->kind == RECORD_RETURN ? end->duration
										 : 0,
				   .end = !end			       ? REPORT_UNFINISHED
					  : end->kind == RECORD_RETURN ? REPORT_RETURNED
								       : REPORT_UNWOUND,
				   .pid = record->pid,
				   .tid = record->tid,
				   .depth = record->depth,
				   .stack = record->stack};

	see_time(report, call.begun);
	if (end)
		see_time(report, end->time);
	call_values_begin(&values, &report->target, entry, end);
	count_call(report, &call, &values);
	/* Calls that do not end come in no order: see report_calls.c. */
	if (end)
		add_to_threads(report, &call, end->time, record_is_span(record));
	call_values_end(&values);
	return 0;
}

/* ------------------------------------------------------------------ other events */

static void add_untraced(struct report_sink *report, const struct record *record)
{
	struct value_cursor cursor = value_cursor_start(record);
	const struct record_value *what = value_cursor_next(&cursor);
	const struct record_value *why = what ? value_cursor_next(&cursor) : NULL;

	if (!why)
		return;
	if (report->untraced.count >= REPORT_UNTRACED_MAX) {
		report->untraced_left_out++;
		return;
	}
	vec_push(&report->untraced,
		 &(struct report_untraced){xstrndup(record_value_bytes(what), what->length),
					   xstrndup(record_value_bytes(why), why->length)});
}

static void add_event(struct report_sink *report, const struct record *record)
{
	see_time(report, record->time);
	if (report->events.count >= REPORT_EVENTS_MAX)
		report->events_left_out++;
	else
		vec_push(&report->events,
			 &(struct report_event){record->time, record->pid, record->tid,
						record->kind, record->number});
}

static int report_record(struct sink *sink, const struct record *record)
{
	struct report_sink *report = report_of(sink);

	switch (record->kind) {
	case RECORD_SIGNAL:
	case RECORD_EXITED:
	case RECORD_KILLED:
	case RECORD_EXEC:
		add_event(report, record);
		break;
	case RECORD_UNTRACED:
		add_untraced(report, record);
		break;
	case RECORD_PROBES:
		report->lost += record->duration;
		break;
	default:
		break;
	}
	return 0;
}

/* ------------------------------------------------------------------ the sink */

static int report_flush(struct sink *sink)
{
	(void)sink;
	return 0;
}

static int report_finish(struct sink *sink)
{
	struct report_sink *report = report_of(sink);
	size_t count;

	/* Nothing has happened. */
	if (!report->first)
		report->first = report->last = report->target.begun;
	struct report_call **calls = report_calls_unfinished(report, &count);

	for (size_t i = 0; i < count; i++)
		add_to_threads(report, calls[i], UINT64_MAX, false);
	for (size_t i = 0; i < report->threads.list.count; i++)
		report_flame_flush(
			&report->flame,
			&(*(struct report_thread **)vec_at(&report->threads.list, i))->pieces);
	report_threads_trim(&report->threads);
	return report_put(report);
}

/* The row stays: it has the calls so far. */
static void report_forget(struct sink *sink, const struct probe_info *probe)
{
	map_remove(&report_of(sink)->functions, (uint64_t)probe->id + 1);
	map_remove(&report_of(sink)->statements, (uint64_t)probe->id + 1);
}

static void report_destroy(struct sink *sink)
{
	struct report_sink *report = report_of(sink);

	report_calls_deinit(report);
	for (unsigned i = 0; i < REPORT_TABLES; i++)
		report_rows_deinit(&report->tables[i]);
	for (size_t i = 0; i < report->untraced.count; i++) {
		const struct report_untraced *untraced = vec_at(&report->untraced, i);

		free(untraced->what);
		free(untraced->why);
	}
	vec_deinit(&report->untraced);
	vec_deinit(&report->events);
	report_threads_deinit(&report->threads);
	report_flame_deinit(&report->flame);
	map_deinit(&report->functions);
	map_deinit(&report->statements);
	map_deinit(&report->lines);
	for (unsigned i = 0; i < DB_ARGUMENTS; i++)
		expression_free(report->shapes[i]);
	free(report);
}

static const struct sink_ops report_ops = {
	.record = report_record,
	.call = report_call,
	.flush = report_flush,
	.finish = report_finish,
	.forget = report_forget,
	.destroy = report_destroy,
};

struct sink *report_sink_create(const struct sink_target *target)
{
	static const char *const shapes[DB_ARGUMENTS] = {"fingerprint(arg1)", "fingerprint(arg2)",
							 "fingerprint(arg3)"};
	const struct output_options *options = target->options;
	struct report_sink *report = xcalloc(1, sizeof *report);
	struct expression_error error;

	report->sink.ops = &report_ops;
	report->target = *target;
	report->render = (struct render_options){.string_max = options->string_max,
						 .array_max = options->array_max,
						 .names = options->parameter_names,
						 .utf8 = true,
						 .code = target->code};
	for (unsigned i = 0; i < DB_ARGUMENTS; i++)
		report->shapes[i] = expression_parse(shapes[i], &error);
	vec_init(&report->threads.list, sizeof(struct report_thread *));
	vec_init(&report->threads.others.pieces, sizeof(struct report_piece));
	vec_init(&report->unfinished, sizeof(struct report_call *));
	vec_init(&report->events, sizeof(struct report_event));
	vec_init(&report->untraced, sizeof(struct report_untraced));
	report_flame_begin(&report->flame);
	return &report->sink;
}
