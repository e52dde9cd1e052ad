/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON inside of an HTML page: see report_json.c. */
#ifndef TRACER_SINK_REPORT_REPORT_JSON_H
#define TRACER_SINK_REPORT_REPORT_JSON_H

#include "base/vec.h"
#include "sink/render/outbuf.h"

/* Writes bytes as a string that neither ends a <script> nor a line of one. */
void report_json_text(struct outbuf *out, const char *bytes, size_t length);
/* The same, of a text with a NUL; null for NULL. */
void report_json_name(struct outbuf *out, const char *text);

/* Begin and end an object or an array as a member; `name` NULL: as an element. */
void report_json_open(struct outbuf *out, const char *name, char bracket);
void report_json_close(struct outbuf *out, char bracket);

/* Write a member, with a comma in front if it is not the first one. */
void report_json_number(struct outbuf *out, const char *name, uint64_t number);
void report_json_member(struct outbuf *out, const char *name, const char *text);

/* Writes what is there, if it is much. What comes next still knows what it comes after. */
void report_json_flush(struct outbuf *out);

/* Returns a number of ns or calls as the functions below take it. */
static inline int64_t report_json_clamp(uint64_t number)
{
	return number < (uint64_t)INT64_MAX ? (int64_t)number : INT64_MAX;
}

/* Write an element of an array. */
void report_json_push(struct outbuf *out, int64_t number);
void report_json_push_text(struct outbuf *out, const char *text);

/* Writes a member that is an array with a number of each item, which is given to get(). */
void report_json_column(struct outbuf *out, const char *name, const struct vec *items,
			int64_t (*get)(const void *item, const void *context), const void *context);

#endif
