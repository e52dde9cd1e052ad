/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lines of JSON have in common, those of calls and those of a table: doc/JSON.md. */
#ifndef TRACER_SINK_FORMS_JSON_LINE_H
#define TRACER_SINK_FORMS_JSON_LINE_H

#include "record/record.h"
#include "sink/render/outbuf.h"

/* Begins an object: its type, and `time`, in ns since the Epoch. */
void json_line_begin(struct outbuf *out, const char *type, uint64_t time);
/* Ends the object, and the line. */
void json_line_end(struct outbuf *out);

/* Writes the name of a member, with the comma in front of it. */
void json_line_put_member(struct outbuf *out, const char *name);
/* Writes ns since the Epoch as seconds with nine decimals, in quotes. */
void json_line_put_time(struct outbuf *out, uint64_t time);

/* Writes the members of a RECORD_UNTRACED. */
void json_line_put_untraced(struct outbuf *out, const struct record *record);

#endif
