/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call of --top as a line. It is made when somebody looks at the call, some time after it has
 * ended: so all of it comes from the records, and pointers to functions are addresses, as the
 * module that had a name for one may be gone.
 */
#include "sink/tables/top_line.h"

#include "base/time_of_day.h"
#include "sink/render/errname.h"
#include "sink/render/escape.h"
#include "sink/render/render.h"
#include "sink/stacks/stack_lines.h"

enum { NS_PER_S = 1000000000, DURATION_WIDTH = 15, DECIMALS = 9 };

static void put_clock(struct outbuf *out, uint64_t time)
{
	char clock[TIME_OF_DAY_US_BYTES];

	time_of_day_us(clock, time);
	outbuf_text(out, clock);
}

static void put_duration(struct outbuf *out, const struct record *end)
{
	const size_t begin = outbuf_column(out);

	if (!end || end->kind != RECORD_RETURN) {
		outbuf_pad_to(out, begin + DURATION_WIDTH - 1);
		outbuf_char(out, '-');
		return;
	}
	outbuf_unsigned(out, end->duration / NS_PER_S, DURATION_WIDTH - DECIMALS - 1, ' ');
	outbuf_char(out, '.');
	outbuf_unsigned(out, end->duration % NS_PER_S, DECIMALS, '0');
}

static void put_arguments(struct outbuf *out, const struct prototype *prototype,
			  const struct record *entry, const struct record *returned,
			  const struct render_options *render)
{
	const unsigned count = render_entry_count(prototype);
	struct value_cursor cursor;

	if (prototype->is_unknown || !entry) {
		outbuf_text(out, "...");
		return;
	}
	cursor = value_cursor_start(entry);
	render_arguments(out, prototype, 0, count, &cursor, render);
	if (!returned)
		return;
	cursor = value_cursor_start(returned);
	render_skip_result(prototype, &cursor);
	render_arguments(out, prototype, count, prototype->parameter_count, &cursor, render);
}

static void put_result(struct outbuf *out, const struct probe_info *probe, const struct record *end,
		       const struct render_options *render)
{
	if (!end) {
		outbuf_text(out, " <unfinished>");
		return;
	}
	if (end->kind != RECORD_RETURN) {
		outbuf_text(out, " <unwound>");
		return;
	}
	struct value_cursor cursor = value_cursor_start(end);

	outbuf_text(out, " = ");
	if (probe->kind == PROBE_SYSTEM && end->number)
		errname_put_result(out, end->number);
	else
		render_result(out, probe->prototype, &cursor, render);
}

void top_line_put(struct outbuf *out, const struct sink_target *target, const struct record *entry,
		  const struct record *end)
{
	const struct output_options *options = target->options;
	const struct record *record = entry ? entry : end;
	const struct probe_info *probe = probe_table_get(target->probes, record->probe);
	const struct record *returned = end && end->kind == RECORD_RETURN ? end : NULL;
	const struct render_options render = {.string_max = options->string_max,
					      .array_max = options->array_max,
					      .names = options->parameter_names,
					      .utf8 = options->utf8};

	put_clock(out, entry ? entry->time : end->time - end->duration);
	put_duration(out, end);
	outbuf_char(out, ' ');
	outbuf_signed(out, record->tid);
	outbuf_char(out, ' ');
	escape_name(out, probe ? probe->name : NULL);
	outbuf_char(out, '(');
	if (probe)
		put_arguments(out, probe->prototype, entry, returned, &render);
	outbuf_char(out, ')');
	if (probe)
		put_result(out, probe, end, &render);
	if (record->stack && target->stacks)
		stack_lines_put_place(out, target->stacks, record->stack, options);
}
