/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of comma-separated values: see csv_text.c. */
#ifndef TRACER_SINK_FORMS_CSV_TEXT_H
#define TRACER_SINK_FORMS_CSV_TEXT_H

#include "sink/render/outbuf.h"

#include <stdbool.h>

/* A line that is being written. Between two of the functions anything may be put into `out`. */
struct csv_line {
	struct outbuf *out;
	bool has_fields;
	size_t start; /* of the field that is being written */
};

/* Begins a line with no fields. */
struct csv_line csv_line_begin(struct outbuf *out);
/* Ends the line. */
void csv_line_end(struct csv_line *line);

/* Begins a field, to which the caller then appends its text. */
void csv_field_begin(struct csv_line *line);
/* Ends the field: it is put in quotes if it needs any. */
void csv_field_end(struct csv_line *line);

/* Whole fields: of nothing, a text as it is, a number, and seconds with nine decimals. */
void csv_field_empty(struct csv_line *line);
void csv_field_text(struct csv_line *line, const char *text);
void csv_field_unsigned(struct csv_line *line, uint64_t number);
void csv_field_signed(struct csv_line *line, int64_t number);
void csv_field_time(struct csv_line *line, uint64_t ns);
/* A name from the traced process, with what is not printable escaped; NULL: nothing. */
void csv_field_name(struct csv_line *line, const char *name);

#endif
