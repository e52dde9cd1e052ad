/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a screen shows at one moment: lines of text, each in one style. */
#ifndef TRACER_VIEW_FRAME_H
#define TRACER_VIEW_FRAME_H

#include "sink/render/outbuf.h"

enum frame_style {
	FRAME_PLAIN,
	FRAME_TITLE,
	FRAME_HEADING,
	FRAME_SELECTED,
	FRAME_ERROR,
	FRAME_STYLES
};

struct frame_line {
	char *text; /* owned; NULL: empty */
	enum frame_style style;
};

struct frame {
	unsigned height, width; /* in lines and columns: the size that it is made for */
	/* `height` lines; a text may be longer than the screen is wide, which is cut */
	struct frame_line *content;
	int cursor; /* the line behind whose text the cursor is; -1: it is hidden */
};

/* An empty frame; the sizes are 1 at least. */
struct frame *frame_create(unsigned height, unsigned width);
void frame_destroy(struct frame *frame); /* NULL is allowed */

/* Sets a line, if there is one of that number. Text must be free of control characters. */
void frame_put(struct frame *frame, unsigned line, enum frame_style style, const char *text);
/* The same with what is in `out`, which is empty then. */
void frame_put_buffer(struct frame *frame, unsigned line, enum frame_style style,
		      struct outbuf *out);

#endif
