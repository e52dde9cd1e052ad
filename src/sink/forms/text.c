/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink for lines in ltrace's format.
 *
 *	[pid 7] 22:31:50.507781 [cat(main+0x1e8)]   strlen("abc"     = 3 <0.000004>
 *	prefix  time stamp      -i                  -n name(args   -a  result   -T
 *
 * A line begins when a call is made and ends when it returns, and other records may come in
 * between. At any time only the last line can be open; the only state kept about it is the thread
 * and the number of its call. If another line has to be written first, the open line is ended with
 * <unfinished ...>, and the return gets a line of its own that begins with <... NAME resumed>. No
 * state is kept per thread or pending call: the record has all that a line needs (depth, return
 * address, name), so threads and calls that never end leak nothing.
 *
 * The text of an unfinished line and of its resumption, put together, is the text of the complete
 * line: entry arguments end without a comma, those of the return begin with one.
 *
 * Lines begin with `[pid N]` from the moment that a second thread was seen; before that it would be
 * noise. A thread is seen with its first record, of any kind (RECORD_THREAD exists to make that
 * early). A file of several processes (-f -o) may be read by programs that cut lines at fixed
 * places, so there all lines begin with the pid, as strace's do.
 *
 * Cost: no stdio, no allocation and no system call per record; the local time of day is computed
 * once per second.
 */
#include "sink/forms/text.h"

#include "base/cleanup.h"
#include "base/time_of_day.h"
#include "base/xalloc.h"
#include "sink/render/errname.h"
#include "sink/render/escape.h"
#include "sink/render/outbuf.h"
#include "sink/render/render.h"
#include "sink/render/signame.h"
#include "sink/sink.h"
#include "sink/stacks/stack_lines.h"

#include <stdlib.h>

enum {
	NS_PER_US = 1000,
	NS_PER_S = 1000000000,
	/* in columns: deep recursion would otherwise make each line longer than the last */
	INDENT_MAX = 400
};

struct text_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct text_sink * */
	const struct probe_table *probes;
	const struct output_options *options;
	const struct stack_table *stacks;
	struct render_options render;
	struct outbuf out;

	bool is_open; /* the last line waits for the return of call `open_call` in `open_tid` */
	int32_t open_tid;
	uint64_t open_call;

	int32_t first_tid; /* 0: no thread was seen yet */
	bool has_several;  /* several threads were seen, or -f -o asks for the pid on each line */

	uint64_t last_time; /* -r: time of the last line; 0: none */
	uint64_t clock_second;
	char clock[9]; /* HH:MM:SS of clock_second; empty: none yet */
};

/* ECMA-48 SGR codes. */
#define STYLE_NONE "0"
#define STYLE_BOLD "1"
#define STYLE_FAINT "2"
#define STYLE_RED "31"
#define STYLE_YELLOW "33"

/*
 * Ends the open line, if there is one, because another line has to be written before its call ends.
 */
static void suspend_line(struct text_sink *text)
{
	if (!text->is_open)
		return;
	outbuf_text(&text->out, " <unfinished ...>");
	outbuf_newline(&text->out);
	text->is_open = false;
}

static void end_line(struct text_sink *text)
{
	outbuf_newline(&text->out);
	text->is_open = false;
}

/* Ends the line of a call, with the place where it was made, and the stack below. */
static void end_call(struct text_sink *text, const struct record *record)
{
	stack_lines_put_place(&text->out, text->stacks, record->stack, text->options);
	end_line(text);
	stack_lines_put_frames(&text->out, text->stacks, record->stack, text->options);
}

static void put_seconds(struct outbuf *out, uint64_t ns, unsigned width)
{
	outbuf_unsigned(out, ns / NS_PER_S, width, ' ');
	outbuf_char(out, '.');
	outbuf_unsigned(out, ns % NS_PER_S / NS_PER_US, 6, '0');
}

static void put_clock(struct text_sink *text, uint64_t time)
{
	const uint64_t second = time / NS_PER_S;

	if (!text->clock[0] || second != text->clock_second) {
		time_of_day(text->clock, time);
		text->clock_second = second;
	}
	outbuf_text(&text->out, text->clock);
}

static void put_time_stamps(struct text_sink *text, uint64_t time)
{
	struct outbuf *out = &text->out;

	if (text->options->time_stamp >= 3) {
		put_seconds(out, time, 1);
		outbuf_char(out, ' ');
	} else if (text->options->time_stamp > 0) {
		put_clock(text, time);
		if (text->options->time_stamp == 2) {
			outbuf_char(out, '.');
			outbuf_unsigned(out, time % NS_PER_S / NS_PER_US, 6, '0');
		}
		outbuf_char(out, ' ');
	}
	if (text->options->relative_time) {
		/* Clocks of different processors may differ a little: show no negative times. */
		bool is_later = text->last_time && time > text->last_time;

		put_seconds(out, is_later ? time - text->last_time : 0, 3);
		outbuf_char(out, ' ');
		text->last_time = time;
	}
}

static void style(struct text_sink *text, const char *code)
{
	if (text->options->color)
		outbuf_style(&text->out, code);
}

static bool has_front(const struct text_sink *text, const struct record *record)
{
	return text->has_several || text->options->time_stamp > 0 || text->options->relative_time ||
	       (text->options->return_address && record->pc);
}

/* -i: where the call returns to. */
static void put_caller(struct text_sink *text, const struct record *record)
{
	const struct code_names *code = text->render.code;
	_cleanup_free_ char *place = code ? code->place(code->context, record->pid, record->pc)
					  : NULL;

	outbuf_char(&text->out, '[');
	if (place)
		escape_name(&text->out, place);
	else
		outbuf_hex(&text->out, record->pc);
	outbuf_text(&text->out, "] ");
}

/* Writes all that comes in front of the indentation. */
static void begin_line(struct text_sink *text, const struct record *record)
{
	struct outbuf *out = &text->out;

	suspend_line(text);
	if (!has_front(text, record))
		return;
	style(text, STYLE_FAINT);
	if (text->has_several) {
		if (!text->options->to_file)
			outbuf_text(out, "[pid ");
		outbuf_signed(out, record->tid);
		outbuf_text(out, text->options->to_file ? " " : "] ");
	}
	put_time_stamps(text, record->time);
	if (text->options->return_address && record->pc)
		put_caller(text, record);
	style(text, STYLE_NONE);
}

static void indent(struct text_sink *text, const struct record *record)
{
	uint64_t columns = (uint64_t)record->depth * text->options->indent;

	outbuf_spaces(&text->out, columns < INDENT_MAX ? (size_t)columns : INDENT_MAX);
}

static void write_call(struct text_sink *text, const struct record *record)
{
	const struct probe_info *probe = probe_table_get(text->probes, record->probe);
	struct value_cursor cursor = value_cursor_start(record);

	begin_line(text, record);
	indent(text, record);
	style(text, STYLE_BOLD);
	escape_name(&text->out, probe ? probe->display : NULL);
	style(text, STYLE_NONE);
	outbuf_char(&text->out, '(');
	if (probe && probe->prototype->is_unknown)
		outbuf_text(&text->out, "...");
	else if (probe)
		render_arguments(&text->out, probe->prototype, 0,
				 render_entry_count(probe->prototype), &cursor, &text->render);
	text->is_open = true;
	text->open_tid = record->tid;
	text->open_call = record->call;
}

/* Continues the line of the call that ends, in place or as a new line. */
static void resume_line(struct text_sink *text, const struct record *record,
			const struct probe_info *probe)
{
	if (text->is_open && text->open_tid == record->tid && text->open_call == record->call)
		return;
	begin_line(text, record);
	indent(text, record);
	outbuf_text(&text->out, "<... ");
	style(text, STYLE_BOLD);
	escape_name(&text->out, probe ? probe->name : NULL);
	style(text, STYLE_NONE);
	outbuf_text(&text->out, " resumed> ");
}

/* Writes all from the end of the arguments to the result: at least one space before the '='. */
static void put_equals(struct text_sink *text)
{
	outbuf_text(&text->out, ") ");
	outbuf_pad_to(&text->out, text->options->align ? text->options->align - 1 : 0);
	outbuf_text(&text->out, "= ");
}

/*
 * The record has the result before the arguments, the line has it behind them. So two cursors are
 * used, both from the beginning of the record.
 */
static void write_return_values(struct text_sink *text, const struct record *record,
				const struct probe_info *probe)
{
	const struct prototype *prototype = probe->prototype;
	struct value_cursor result = value_cursor_start(record);
	struct value_cursor arguments = result;

	render_skip_result(prototype, &arguments);
	/* What a call was given is not known if it had begun before the attach. */
	if (record->number != RECORD_SINCE_ATTACH)
		render_arguments(&text->out, prototype, render_entry_count(prototype),
				 prototype->parameter_count, &arguments, &text->render);
	put_equals(text);
	if (probe->kind == PROBE_SYSTEM && record->number)
		errname_put_result(&text->out, record->number);
	else
		render_result(&text->out, prototype, &result, &text->render);
}

/* A call that has begun before the process was attached to. */
static void write_running(struct text_sink *text, const struct record *record)
{
	const struct probe_info *probe = probe_table_get(text->probes, record->probe);

	begin_line(text, record);
	indent(text, record);
	outbuf_text(&text->out, "<... ");
	style(text, STYLE_BOLD);
	escape_name(&text->out, probe ? probe->name : NULL);
	style(text, STYLE_NONE);
	outbuf_text(&text->out, " already running>");
	end_call(text, record);
}

static void write_return(struct text_sink *text, const struct record *record)
{
	const struct probe_info *probe = probe_table_get(text->probes, record->probe);

	resume_line(text, record, probe);
	if (probe) {
		write_return_values(text, record, probe);
	} else {
		put_equals(text);
		outbuf_char(&text->out, '?');
	}
	if (text->options->durations) {
		style(text, STYLE_FAINT);
		outbuf_text(&text->out,
			    record->number == RECORD_SINCE_ATTACH ? " <at least " : " <");
		put_seconds(&text->out, record->duration, 1);
		outbuf_char(&text->out, '>');
		style(text, STYLE_NONE);
	}
	end_call(text, record);
}

static void write_unwound(struct text_sink *text, const struct record *record)
{
	resume_line(text, record, probe_table_get(text->probes, record->probe));
	put_equals(text);
	outbuf_text(&text->out, "<unwound>");
	end_call(text, record);
}

static void write_signal(struct text_sink *text, const struct record *record)
{
	if (text->options->no_signals)
		return;
	begin_line(text, record);
	style(text, STYLE_YELLOW);
	outbuf_text(&text->out, "--- ");
	signame_put(&text->out, record->number);
	outbuf_text(&text->out, " (");
	signame_put_meaning(&text->out, record->number);
	outbuf_text(&text->out, ") ---");
	style(text, STYLE_NONE);
	end_line(text);
}

static void write_exited(struct text_sink *text, const struct record *record)
{
	if (text->options->no_ends)
		return;
	begin_line(text, record);
	outbuf_text(&text->out, "+++ exited (status ");
	outbuf_signed(&text->out, record->number);
	outbuf_text(&text->out, ") +++");
	end_line(text);
}

static void write_killed(struct text_sink *text, const struct record *record)
{
	if (text->options->no_ends)
		return;
	begin_line(text, record);
	style(text, STYLE_RED);
	outbuf_text(&text->out, "+++ killed by ");
	signame_put(&text->out, record->number);
	outbuf_text(&text->out, " +++");
	style(text, STYLE_NONE);
	end_line(text);
}

static void write_exec(struct text_sink *text, const struct record *record)
{
	begin_line(text, record);
	outbuf_text(&text->out, "--- Called exec() ---");
	end_line(text);
}

/*
 * The tracer itself reports this on stderr. If the trace goes there, too, only the open line is
 * ended and all text written.
 */
static void write_untraced(struct text_sink *text, const struct record *record)
{
	suspend_line(text);
	if (!text->options->to_file) {
		outbuf_flush(&text->out);
		return;
	}
	put_time_stamps(text, record->time);
	render_untraced(&text->out, record);
	outbuf_newline(&text->out);
}

/* The tracer reports this on stderr. If the trace goes there, too, the open line is ended first. */
static void write_attached(struct text_sink *text)
{
	if (text->options->to_file)
		return;
	suspend_line(text);
	outbuf_flush(&text->out);
}

static void see_thread(struct text_sink *text, int32_t tid)
{
	if (!text->first_tid)
		text->first_tid = tid;
	else if (tid != text->first_tid)
		text->has_several = true;
}

static void write_record(struct text_sink *text, const struct record *record)
{
	switch (record->kind) {
	case RECORD_CALL:
		write_call(text, record);
		break;
	case RECORD_RUNNING:
		write_running(text, record);
		break;
	case RECORD_RETURN:
		write_return(text, record);
		break;
	case RECORD_UNWOUND:
		write_unwound(text, record);
		break;
	case RECORD_SIGNAL:
		write_signal(text, record);
		break;
	case RECORD_EXITED:
		write_exited(text, record);
		break;
	case RECORD_KILLED:
		write_killed(text, record);
		break;
	case RECORD_EXEC:
		write_exec(text, record);
		break;
	case RECORD_UNTRACED:
		write_untraced(text, record);
		break;
	case RECORD_ATTACHED:
		write_attached(text);
		break;
	case RECORD_THREAD_END:
		if (text->open_tid == record->tid)
			suspend_line(text);
		break;
	default: /* RECORD_THREAD has no text; record kinds of newer versions are skipped */
		break;
	}
}

static struct text_sink *text_of(struct sink *sink)
{
	return (struct text_sink *)(void *)sink;
}

static int text_record(struct sink *sink, const struct record *record)
{
	struct text_sink *text = text_of(sink);

	if (record->tid)
		see_thread(text, record->tid);
	write_record(text, record);
	return outbuf_flush_full(&text->out);
}

static int text_flush(struct sink *sink)
{
	return outbuf_flush(&text_of(sink)->out);
}

static int text_finish(struct sink *sink)
{
	suspend_line(text_of(sink));
	return text_flush(sink);
}

static void text_destroy(struct sink *sink)
{
	outbuf_deinit(&text_of(sink)->out);
	free(text_of(sink));
}

static const struct sink_ops text_ops = {
	.record = text_record,
	.flush = text_flush,
	.finish = text_finish,
	.destroy = text_destroy,
};

struct sink *text_sink_create(const struct sink_target *target)
{
	const struct output_options *options = target->options;
	struct text_sink *text = xcalloc(1, sizeof *text);

	text->sink.ops = &text_ops;
	text->probes = target->probes;
	text->options = options;
	text->stacks = target->stacks;
	text->has_several = options->all_pids;
	text->render = (struct render_options){.string_max = options->string_max,
					       .array_max = options->array_max,
					       .names = options->parameter_names,
					       .utf8 = options->utf8,
					       .code = target->code};
	outbuf_init(&text->out, target->fd);
	text->out.patience = &options->patience;
	return &text->sink;
}
