/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the stack of a call is shown: the script line at the end of its line, frames in lines below.
 */
#ifndef TRACER_SINK_STACKS_STACK_LINES_H
#define TRACER_SINK_STACKS_STACK_LINES_H

#include "base/strbuf.h"
#include "sink/render/outbuf.h"
#include "sink/sink.h"
#include "sink/stacks/stack_table.h"

/*
 * Returns true for a script frame that -W may show: one of the application, or any one with
 * --any-line. A frame without a file may be one of the application.
 */
bool stack_lines_is_wanted(const struct stack_frame *frame, bool any_line);
/*
 * Chooses the frame of a stack that -W shows, the innermost one that is wanted. NULL: there is
 * none, or its line is not known, and that of its caller would be a wrong one.
 */
const struct stack_frame *stack_lines_choose(const struct stack_table *stacks, uint32_t stack,
					     const struct output_options *options);

/* Returns the file of a frame as it is shown; it is not NULL. */
const char *stack_lines_file(const struct stack_frame *frame, const struct output_options *options);

/* -W: appends " at FILE:LINE FUNCTION", or nothing. */
void stack_lines_put_place(struct outbuf *out, const struct stack_table *stacks, uint32_t stack,
			   const struct output_options *options);

/* The same text, with nothing escaped. */
void stack_lines_add_place(struct strbuf *text, const struct stack_table *stacks, uint32_t stack,
			   const struct output_options *options);

/* -w: appends a line for each frame, " > FRAME", to a line that has ended. */
void stack_lines_put_frames(struct outbuf *out, const struct stack_table *stacks, uint32_t stack,
			    const struct output_options *options);

#endif
