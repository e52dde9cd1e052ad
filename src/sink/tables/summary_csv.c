/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of -c as comma-separated values (csv_text.c): a line that names the columns, and one for
 * each row. The columns are those of the table, with the time when it was made and the time that it
 * covers in front, and the process if each has a table of its own. All tables have one heading, and
 * none has a row of totals.
 *
 * A distribution is one field, since the powers of two that have calls differ from row to row:
 * `128:3 256:10`, the least ns of each, and its calls.
 */
#include "sink/tables/summary_csv.h"

#include "sink/forms/csv_text.h"
#include "sink/tables/summary_members.h"

#include <stdio.h>

static void put_heading(struct outbuf *out, const struct output_options *options, bool has_pids)
{
	const struct summary_members members = summary_members_of(options);
	struct csv_line line = csv_line_begin(out);

	csv_field_text(&line, "time");
	csv_field_text(&line, "elapsed_ns");
	if (has_pids)
		csv_field_text(&line, "pid");
	if (options->sample > 1)
		csv_field_text(&line, "sample");
	for (unsigned i = 0; i < members.count; i++)
		csv_field_text(&line, summary_member(members.column[i]));
	csv_line_end(&line);
}

static void put_histogram(struct csv_line *line, const struct histogram *times)
{
	bool any = false;

	csv_field_begin(line);
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		const uint64_t count = histogram_octave(times, octave);

		if (!count)
			continue;
		outbuf_text(line->out, any ? " " : "");
		outbuf_unsigned(line->out, summary_octave_from(octave), 1, ' ');
		outbuf_char(line->out, ':');
		outbuf_unsigned(line->out, count, 1, ' ');
		any = true;
	}
}

static void put_cell(struct csv_line *line, const struct summary_table *table,
		     const struct summary_row *row, unsigned column)
{
	const struct summary_cell cell = summary_cell_get(row, column, &table->total);
	char text[40];

	if (!cell.is_known) {
		csv_field_empty(line);
	} else if (column == COLUMN_SHARE) {
		snprintf(text, sizeof text, "%u.%02u", (unsigned)(cell.number / 100),
			 (unsigned)(cell.number % 100));
		csv_field_text(line, text);
	} else if (column == COLUMN_SUM) {
		snprintf(text, sizeof text, "%.17g", row->tally.sum);
		csv_field_text(line, text);
	} else if (column == COLUMN_NAME) {
		csv_field_name(line, row->name);
	} else if (column == COLUMN_HISTOGRAM) {
		put_histogram(line, row->tally.times);
	} else if (column == COLUMN_FIRST || column == COLUMN_LAST) {
		csv_field_time(line, cell.number);
	} else {
		csv_field_unsigned(line, cell.number);
	}
}

static void put_table(struct outbuf *out, const struct summary_table *table)
{
	const struct summary_members members = summary_members_of(table->options);

	for (size_t i = 0; i < table->rows.count; i++) {
		struct csv_line line = csv_line_begin(out);

		csv_field_time(&line, table->time);
		csv_field_unsigned(&line, table->elapsed);
		if (table->has_pid)
			csv_field_signed(&line, table->pid);
		if (table->options->sample > 1)
			csv_field_unsigned(&line, table->options->sample);
		for (unsigned k = 0; k < members.count; k++)
			put_cell(&line, table, vec_at(&table->rows, i), members.column[k]);
		csv_line_end(&line);
	}
}

const struct table_form *summary_csv_form(void)
{
	static const struct table_form form = {.put_heading = put_heading, .put_table = put_table};

	return &form;
}
