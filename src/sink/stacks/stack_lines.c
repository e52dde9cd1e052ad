/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the stack of a call is shown. File and function are texts of the traced process: they are
 * escaped as names are, so that they can neither break a line nor control the terminal.
 */
#include "sink/stacks/stack_lines.h"

#include "sink/render/escape.h"

#include <string.h>

/* In front of the calls of a frame, below the frame's own line. */
#define CALL_INDENT "     "

bool stack_lines_is_wanted(const struct stack_frame *frame, bool any_line)
{
	return frame->kind == STACK_SCRIPT && (any_line || frame->is_application || !frame->file);
}

const struct stack_frame *stack_lines_choose(const struct stack_table *stacks, uint32_t stack,
					     const struct output_options *options)
{
	size_t count;
	const struct stack_frame *frames = stack_table_get(stacks, stack, &count);

	for (size_t i = 0; i < count; i++)
		if (stack_lines_is_wanted(&frames[i], options->any_line))
			return frames[i].file && frames[i].line ? &frames[i] : NULL;
	return NULL;
}

const char *stack_lines_file(const struct stack_frame *frame, const struct output_options *options)
{
	const char *name = strrchr(frame->file, '/');

	return options->paths || !name ? frame->file : name + 1;
}

/* FILE:LINE, or FILE alone. */
static void put_file(struct outbuf *out, const struct stack_frame *frame,
		     const struct output_options *options)
{
	escape_source_name(out, stack_lines_file(frame, options), options->utf8);
	if (!frame->line)
		return;
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
	escape_source_name(out, frame->function, options->utf8);
}

/* FUNCTION (FILE:LINE) [LANGUAGE] */
static void put_script(struct outbuf *out, const struct stack_frame *frame,
		       const struct output_options *options)
{
	if (frame->function)
		escape_source_name(out, frame->function, options->utf8);
	else
		outbuf_char(out, '-');
	if (frame->file) {
		outbuf_text(out, " (");
		put_file(out, frame, options);
		outbuf_char(out, ')');
	}
	outbuf_text(out, " [");
	outbuf_text(out, frame->language);
	outbuf_char(out, ']');
}

void stack_lines_add_place(struct strbuf *text, const struct stack_table *stacks, uint32_t stack,
			   const struct output_options *options)
{
	const struct stack_frame *frame = stack_lines_choose(stacks, stack, options);

	if (!frame)
		return;
	strbuf_printf(text, " at %s:%u", stack_lines_file(frame, options), frame->line);
	if (frame->function)
		strbuf_printf(text, " %s", frame->function);
}

static void put_hex(struct outbuf *out, uint64_t number)
{
	outbuf_text(out, number ? "" : "0x");
	outbuf_hex(out, number);
}

/*
 * MODULE(FUNCTION+0xOFFSET) [0xADDRESS] FILE:LINE; of an inlined function,
 * MODULE(FUNCTION) [0xADDRESS] FILE:LINE [inlined].
 */
static void put_native(struct outbuf *out, const struct stack_frame *frame,
		       const struct output_options *options)
{
	if (frame->module) {
		escape_name(out, frame->module);
		outbuf_char(out, '(');
	}
	if (frame->function) {
		escape_name(out, frame->function);
		if (!frame->is_inlined) {
			outbuf_char(out, '+');
			put_hex(out, frame->offset);
		}
	} else {
		outbuf_char(out, '-');
	}
	if (frame->module)
		outbuf_char(out, ')');
	outbuf_text(out, " [");
	put_hex(out, frame->address);
	outbuf_char(out, ']');
	if (frame->file) {
		outbuf_char(out, ' ');
		put_file(out, frame, options);
	}
	if (frame->is_inlined)
		outbuf_text(out, " [inlined]");
	if (frame->is_guessed)
		outbuf_text(out, " ?");
}

/* The calls that a native frame stands for, if arguments are known, in lines of their own. */
static void put_calls(struct outbuf *out, const struct stack_frame *frame)
{
	for (const char *at = frame->calls; at && *at; at += *at == '\n') {
		const size_t length = strcspn(at, "\n");

		outbuf_text(out, CALL_INDENT);
		outbuf_bytes(out, at, length);
		outbuf_newline(out);
		at += length;
	}
}

void stack_lines_put_frames(struct outbuf *out, const struct stack_table *stacks, uint32_t stack,
			    const struct output_options *options)
{
	size_t count;
	unsigned shown = 0;
	const struct stack_frame *frames = stack_table_get(stacks, stack, &count);

	for (size_t i = 0; i < count && shown < options->where; i++) {
		const struct stack_frame *frame = &frames[i];

		if (frame->is_place ||
		    (frame->kind == STACK_SCRIPT ? !options->where_script : !options->where_native))
			continue;
		outbuf_text(out, " > ");
		if (frame->kind == STACK_SCRIPT)
			put_script(out, frame, options);
		else if (frame->kind == STACK_NATIVE)
			put_native(out, frame, options);
		else
			outbuf_text(out, frame->function);
		outbuf_newline(out);
		put_calls(out, frame);
		shown++;
	}
}
