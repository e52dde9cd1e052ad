/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a sink on their way out: one at the end, or one after another (--interval), of all
 * processes or of one. What counts knows nothing of the form that is written, and the form nothing
 * of what counts.
 *
 * Sinks of several processes may write to one descriptor. A heading that stands there once is
 * written by whichever comes first (sink_target.has_begun).
 */
#include "sink/summary_output.h"

#include "sink/summary_text.h"
#include "tracee/clock.h"

/* In a replay, the time is that of the last record. */
static uint64_t time_of(const struct summary_output *output)
{
	return output->target.is_replay ? output->seen : clock_wall();
}

/* A duration is measured by a clock that is not set. */
static uint64_t now_of(const struct summary_output *output)
{
	return output->target.is_replay ? output->seen : clock_now();
}

void summary_output_restart(struct summary_output *output)
{
	output->begun = now_of(output);
}

void summary_output_init(struct summary_output *output, const struct sink_target *target)
{
	*output = (struct summary_output){.target = *target,
					  .form = target->table ? target->table
								: summary_text_form(),
					  .seen = target->begun};
	summary_output_restart(output);
	outbuf_init(&output->untraced, target->fd);
}

void summary_output_deinit(struct summary_output *output)
{
	outbuf_deinit(&output->untraced);
}

void summary_output_record(struct summary_output *output, const struct record *record)
{
	if (record->time > output->seen)
		output->seen = record->time;
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
	struct summary_table table = {.options = options,
				      .rows = *rows,
				      .total = *total,
				      .has_pid = output->target.is_part,
				      .pid = output->target.pid,
				      .time = time_of(output),
				      .elapsed = now_of(output) - output->begun,
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
