/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the stack of a call is shown. File and function are texts of the traced process: they are
 * escaped as names are, so that they can neither break a line nor control the terminal.
 */
#include "sink/stack_lines.h"

#include "sink/escape.h"

#include <string.h>

const struct stack_frame *stack_lines_choose(const struct stack_table *stacks, uint32_t stack,
					     const struct output_options *options)
{
	size_t count;
	const struct stack_frame *frames = stack_table_get(stacks, stack, &count);

	for (size_t i = 0; i < count; i++)
		if (frames[i].file && frames[i].line &&
		    (options->any_line || frames[i].is_application))
			return &frames[i];
	return NULL;
}

static void put_file(struct outbuf *out, const struct stack_frame *frame,
		     const struct output_options *options)
{
	const char *name = strrchr(frame->file, '/');

	escape_name(out, options->paths || !name ? frame->file : name + 1);
	outbuf_char(out, ':');
	outbuf_unsigned(out, frame->line, 1, ' ');
}

void stack_lines_put_place(struct outbuf *out, const struct stack_table *stacks, uint32_t stack,
			   const struct output_options *options)
{
	const struct stack_frame *frame = options->script_line
						  ? stack_lines_choose(stacks, stack, options)
						  : NULL;

	if (!frame)
		return;
	outbuf_text(out, " at ");
	put_file(out, frame, options);
	if (!frame->function)
		return;
	outbuf_char(out, ' ');
	escape_name(out, frame->function);
}
