/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks, as tools for flame graphs read them: see folded.c. */
#ifndef TRACER_SINK_STACKS_FOLDED_H
#define TRACER_SINK_STACKS_FOLDED_H

#include "base/strbuf.h"
#include "sink/render/outbuf.h"
#include "sink/sink.h"
#include "sink/stacks/stack_table.h"

struct folded;

struct folded *folded_create(const struct stack_table *stacks,
			     const struct output_options *options);
void folded_destroy(struct folded *folded); /* NULL is allowed */
/* Counts a sample: a thread that is shown as `thread`, with a stack of the table; 0: not known. */
void folded_add(struct folded *folded, const char *thread, uint32_t stack);
/* Appends a line for each different stack, sorted: "THREAD;OUTERMOST;…;INNERMOST COUNT". */
void folded_put(const struct folded *folded, struct outbuf *out);
/* Returns how many samples were counted. */
uint64_t folded_count(const struct folded *folded);

/* Appends the name of a frame that is no note, as it is: nothing is escaped. */
void folded_add_name(struct strbuf *text, const struct stack_frame *frame,
		     const struct output_options *options);
/* Appends a name of a frame; a semicolon in it would end the frame, and becomes a colon. */
void folded_add_text(struct strbuf *line, const char *text);

/* Appends the frames of a stack, each with a semicolon in front, from the outermost in. */
void folded_add_frames(struct strbuf *line, const struct stack_table *stacks, uint32_t stack,
		       const struct output_options *options);

#endif
