/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of -c as JSON: an object for each row, in a line of its own, with a member for each column
 * (doc/JSON.md). There is no row of totals, since whoever adds up the rows would count it twice.
 * Each row has the time of its table, so that rows of several tables can be told apart.
 */
#include "sink/tables/summary_json.h"

#include "sink/forms/json_line.h"
#include "sink/forms/json_text.h"
#include "sink/tables/summary_members.h"

/* The calls in each power of two of the time. */
static void put_histogram(struct outbuf *out, const struct histogram *times)
{
	const char *before = "[";

	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		const uint64_t count = histogram_octave(times, octave);

		if (!count)
			continue;
		outbuf_text(out, before);
		outbuf_text(out, "{\"from_ns\":");
		json_text_put_unsigned(out, summary_octave_from(octave));
		json_line_put_member(out, "to_ns");
		json_text_put_unsigned(out, summary_octave_to(octave));
		json_line_put_member(out, "calls");
		json_text_put_unsigned(out, count);
		outbuf_char(out, '}');
		before = ",";
	}
	outbuf_text(out, *before == '[' ? "[]" : "]");
}

/* Shares have two decimals, as in the text. */
static void put_share(struct outbuf *out, uint64_t hundredths)
{
	outbuf_unsigned(out, hundredths / 100, 1, ' ');
	outbuf_char(out, '.');
	outbuf_unsigned(out, hundredths % 100, 2, '0');
}

static void put_cell(struct outbuf *out, const struct summary_table *table,
		     const struct summary_row *row, unsigned column)
{
	const struct summary_cell cell = summary_cell_get(row, column, &table->total);

	if (!cell.is_known || column == COLUMN_NAME)
		return;
	json_line_put_member(out, summary_member(column));
	if (column == COLUMN_SHARE)
		put_share(out, cell.number);
	else if (column == COLUMN_SUM)
		json_text_put_real(out, row->tally.sum);
	else if (column == COLUMN_HISTOGRAM)
		put_histogram(out, row->tally.times);
	else if (column == COLUMN_FIRST || column == COLUMN_LAST)
		json_line_put_time(out, cell.number);
	else
		json_text_put_unsigned(out, cell.number);
}

static void put_table(struct outbuf *out, const struct summary_table *table)
{
	const struct summary_members members = summary_members_of(table->options);

	for (size_t i = 0; i < table->rows.count; i++) {
		const struct summary_row *row = vec_at(&table->rows, i);

		json_line_begin(out, "row", table->time);
		json_line_put_member(out, "elapsed_ns");
		json_text_put_unsigned(out, table->elapsed);
		if (table->has_pid) {
			json_line_put_member(out, "pid");
			outbuf_signed(out, table->pid);
		}
		if (table->options->sample > 1) {
			json_line_put_member(out, "sample");
			json_text_put_unsigned(out, table->options->sample);
		}
		json_line_put_member(out, summary_member(COLUMN_NAME));
		json_text_put_name(out, row->name);
		for (unsigned k = 0; k < members.count; k++)
			put_cell(out, table, row, members.column[k]);
		json_line_end(out);
	}
}

static void put_untraced(struct outbuf *out, const struct record *record,
			 const struct output_options *options)
{
	(void)options;
	json_line_begin(out, "untraced", record->time);
	json_line_put_untraced(out, record);
	json_line_end(out);
}

const struct table_form *summary_json_form(void)
{
	static const struct table_form form = {.put_table = put_table,
					       .put_untraced = put_untraced};

	return &form;
}
