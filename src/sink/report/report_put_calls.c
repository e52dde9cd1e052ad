/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the calls that the report has kept, with the stacks that they refer to. A call is in
 * several lists; it is written once, with the rows it has. The page finds by them, and by its time
 * and duration, which calls belong to a row or to a cell.
 */
#include "sink/report/report_put_calls.h"

#include "base/xalloc.h"
#include "sink/report/report_json.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of the calls begin with 1; those that have none are 0. */
static void take(struct vec *calls, const struct report_slowest *slowest, bool is_slowest)
{
	for (unsigned i = 0; i < slowest->count; i++) {
		struct report_call *call = slowest->calls[i];

		call->is_slowest |= is_slowest;
		if (call->number)
			continue;
		vec_push(calls, &call);
		call->number = (uint32_t)calls->count;
	}
}

static void take_all(struct vec *calls, const struct report_sink *report)
{
	take(calls, &report->slowest, true);
	for (unsigned table = 0; table < REPORT_TABLES; table++)
		for (size_t i = 0; i < report->tables[table].names.count; i++)
			take(calls, &report_rows_at(&report->tables[table], i)->slowest, false);
	for (unsigned level = 0; level < REPORT_LEVELS; level++)
		for (unsigned i = 0; report->cells.levels[level] && i < REPORT_COLUMNS; i++)
			take(calls, &report->cells.levels[level][i], false);
	for (size_t i = 0; i < report->unfinished.count; i++)
		vec_push(calls, vec_at(&report->unfinished, i));
}

static int64_t get_begun(const void *item, const void *context)
{
	const struct report_sink *report = context;

	return report_json_clamp((*(struct report_call *const *)item)->begun - report->first);
}

static int64_t get_duration(const void *item, const void *context)
{
	const struct report_call *call = *(struct report_call *const *)item;

	(void)context;
	return call->end == REPORT_RETURNED ? report_json_clamp(call->duration) : -1;
}

static int64_t get_slowest(const void *item, const void *context)
{
	const struct report_call *call = *(struct report_call *const *)item;

	(void)context;
	return call->is_slowest || call->end == REPORT_UNFINISHED;
}

static int64_t get_pid(const void *item, const void *context)
{
	(void)context;
	return (*(struct report_call *const *)item)->pid;
}

static int64_t get_tid(const void *item, const void *context)
{
	(void)context;
	return (*(struct report_call *const *)item)->tid;
}

static int64_t get_depth(const void *item, const void *context)
{
	(void)context;
	return (*(struct report_call *const *)item)->depth;
}

/* The index of the row in a table, or -1. */
static int64_t get_row(const void *item, const void *context)
{
	const struct report_row *row =
		(*(struct report_call *const *)item)->rows[*(const unsigned *)context];

	return row ? (int64_t)row->index : -1;
}

static void put_rows(struct outbuf *out, const struct vec *calls)
{
	static const char *const names[REPORT_TABLES] = {
		[REPORT_FUNCTIONS] = "function",
		[REPORT_STATEMENTS] = "statement",
		[REPORT_LINES] = "line",
		[REPORT_KEYS] = "key",
	};

	for (unsigned table = 0; table < REPORT_TABLES; table++)
		report_json_column(out, names[table], calls, get_row, &table);
}

/* Writes a column of texts; `offset`: of the member in struct report_call. */
static void put_texts(struct outbuf *out, const char *name, const struct vec *calls, size_t offset)
{
	report_json_open(out, name, '[');
	for (size_t i = 0; i < calls->count; i++) {
		const char *call = *(const char *const *)vec_at(calls, i);
		const char *text;

		memcpy(&text, call + offset, sizeof text);
		report_json_push_text(out, text);
		report_json_flush(out);
	}
	report_json_close(out, ']');
	outbuf_newline(out);
}

/* ------------------------------------------------------------------ stacks */

/* Returns the number of the stack in the page, which it has from now on, or -1. */
static int64_t number_stack(struct map *numbers, struct vec *stacks, uint32_t stack)
{
	const uintptr_t known = stack ? (uintptr_t)map_get(numbers, stack) : 0;

	if (known || !stack)
		return (int64_t)known - 1;
	vec_push(stacks, &stack);
	map_put(numbers, stack, (void *)(uintptr_t)stacks->count);
	return (int64_t)stacks->count - 1;
}

/* Writes the frames of a stack as an array of texts, as lines have them. */
static void put_stack(struct outbuf *out, const struct report_sink *report, uint32_t stack)
{
	struct outbuf lines;
	char *line, *next = NULL;

	outbuf_init(&lines, -1);
	stack_lines_put_frames(&lines, report->target.stacks, stack, report->target.options);
	outbuf_char(&lines, '\0');
	report_json_open(out, NULL, '[');
	for (line = strtok_r(lines.text, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
		report_json_push_text(out, strncmp(line, " > ", 3) ? line : line + 3);
	report_json_close(out, ']');
	outbuf_deinit(&lines);
}

static void put_stacks(struct outbuf *out, const struct report_sink *report,
		       const struct vec *calls)
{
	const bool has_stacks = report->target.stacks && report->target.options->where;
	struct vec stacks = VEC_OF(uint32_t);
	struct map numbers = {0};

	report_json_open(out, "stack", '[');
	for (size_t i = 0; i < calls->count; i++) {
		const struct report_call *call = *(struct report_call **)vec_at(calls, i);

		report_json_push(out,
				 number_stack(&numbers, &stacks, has_stacks ? call->stack : 0));
	}
	report_json_close(out, ']');
	report_json_open(out, "stacks", '[');
	for (size_t i = 0; i < stacks.count; i++) {
		put_stack(out, report, *(uint32_t *)vec_at(&stacks, i));
		report_json_flush(out);
	}
	report_json_close(out, ']');
	outbuf_newline(out);
	map_deinit(&numbers);
	vec_deinit(&stacks);
}

void report_put_calls(struct outbuf *out, struct report_sink *report)
{
	struct vec calls = VEC_OF(struct report_call *);

	take_all(&calls, report);
	report_json_open(out, "kept", '{');
	report_json_column(out, "begun", &calls, get_begun, report);
	report_json_column(out, "duration", &calls, get_duration, report);
	report_json_column(out, "slow", &calls, get_slowest, report);
	report_json_column(out, "pid", &calls, get_pid, report);
	report_json_column(out, "tid", &calls, get_tid, report);
	report_json_column(out, "depth", &calls, get_depth, report);
	put_rows(out, &calls);
	put_texts(out, "arguments", &calls, offsetof(struct report_call, arguments));
	put_texts(out, "result", &calls, offsetof(struct report_call, result));
	put_texts(out, "text", &calls, offsetof(struct report_call, statement));
	put_texts(out, "caller", &calls, offsetof(struct report_call, caller));
	put_stacks(out, report, &calls);
	report_json_close(out, '}');
	vec_deinit(&calls);
}
