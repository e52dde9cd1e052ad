/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a screen shows at one moment. It is made by the thread that traces, and drawn by another one
 * that may have to wait for the terminal: so it owns all of its text.
 */
#include "view/frame.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct frame *frame_create(unsigned height, unsigned width)
{
	struct frame *frame = xcalloc(1, sizeof *frame);

	frame->height = height ? height : 1;
	frame->width = width ? width : 1;
	frame->content = xcalloc(frame->height, sizeof *frame->content);
	frame->cursor = -1;
	return frame;
}

void frame_destroy(struct frame *frame)
{
	if (!frame)
		return;
	for (unsigned i = 0; i < frame->height; i++)
		free(frame->content[i].text);
	free(frame->content);
	free(frame);
}

void frame_put(struct frame *frame, unsigned line, enum frame_style style, const char *text)
{
	if (line >= frame->height)
		return;
	free(frame->content[line].text);
	frame->content[line] = (struct frame_line){xstrdup(text), style};
}

void frame_put_buffer(struct frame *frame, unsigned line, enum frame_style style,
		      struct outbuf *out)
{
	outbuf_char(out, '\0');
	frame_put(frame, line, style, out->text);
	out->length = 0;
	out->line_start = 0;
}
