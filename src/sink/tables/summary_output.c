/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a sink on their way out: one at the end, or one after another (--interval), of all
 * processes or of one. What counts knows nothing of the form that is written, and the form nothing
 * of what counts.
 *
 * Sinks of several processes may write to one descriptor. A heading that stands there once is
 * written by whichever comes first (sink_target.has_begun).
 *
 * No clock is asked: records tell the moments at which tables are made (RECORD_TABLE), so a replay
 * has those of the live trace. The table of one process has moments of its own, since it covers the
 * time from the process's first record to its last one.
 */
#include "sink/tables/summary_output.h"

#include "sink/tables/summary_text.h"

void summary_output_restart(struct summary_output *output)
{
	output->begun = output->now;
}

void summary_output_init(struct summary_output *output, const struct sink_target *target)
{
	*output = (struct summary_output){.target = *target,
					  .form = target->table ? target->table
								: summary_text_form(),
					  .time = target->begun};
	outbuf_init(&output->untraced, target->fd);
}

void summary_output_deinit(struct summary_output *output)
{
	outbuf_deinit(&output->untraced);
}

/* Of one process: counting begins with its first record, and ends with its last one. */
static void note_process(struct summary_output *output, const struct record *record)
{
	const bool ends = record->kind == RECORD_EXITED || record->kind == RECORD_KILLED;

	if ((ends || !output->has_records) && record->time > output->time) {
		output->now += record->time - output->time;
		output->time = record->time;
	}
	if (!output->has_records)
		summary_output_restart(output);
	output->has_records = true;
}

static void note_moment(struct summary_output *output, const struct record *record)
{
	output->time = record->time;
	output->now = record->duration;
	if (record->number == MOMENT_BEGIN)
		summary_output_restart(output);
}

void summary_output_record(struct summary_output *output, const struct record *record)
{
	if (record->kind == RECORD_TABLE)
		note_moment(output, record);
	else if (output->target.is_part)
		note_process(output, record);
	if (record->kind == RECORD_UNTRACED && output->form->put_untraced)
		output->form->put_untraced(&output->untraced, record, output->target.options);
}

static void put_heading(struct summary_output *output, struct outbuf *out)
{
	bool *has_begun = output->target.has_begun ? output->target.has_begun : &output->has_begun;

	if (!*has_begun && output->form->put_heading)
		output->form->put_heading(out, output->target.options, output->target.is_part);
	*has_begun = true;
}

int summary_output_write(struct summary_output *output, const struct vec *rows,
			 const struct tally *total, bool is_last)
{
	const struct output_options *options = output->target.options;
	struct summary_table table = {
		.options = options,
		.rows = *rows,
		.total = *total,
		.has_pid = output->target.is_part,
		.pid = output->target.pid,
		.time = output->time,
		.elapsed = output->now > output->begun ? output->now - output->begun : 0,
		.has_time = !is_last || options->over_time};
	struct outbuf out;

	outbuf_init(&out, output->target.fd);
	out.patience = &options->patience;
	put_heading(output, &out);
	if (!output->target.is_part || rows->count) {
		summary_sort(&table.rows, options);
		output->form->put_table(&out, &table);
	}
	if (is_last && output->planted && output->form->put_engines)
		output->form->put_engines(&out, output->planted, output->inside, output->lost);
	if (is_last)
		outbuf_bytes(&out, output->untraced.text, output->untraced.length);
	const int error = outbuf_flush(&out);

	outbuf_deinit(&out);
	return error;
}
