/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of --format=folded: see frame_lines.c. */
#ifndef TRACER_SINK_STACKS_FRAME_LINES_H
#define TRACER_SINK_STACKS_FRAME_LINES_H

#include "sink/render/outbuf.h"
#include "sink/sink.h"
#include "sink/stacks/frame_tree.h"

/*
 * Writes a line for each node at which calls were counted: "FRAME;FRAME;FUNCTION N". The tree is
 * arranged. Returns 0 or -errno, as outbuf_flush_full() does.
 */
int frame_lines_put(struct outbuf *out, const struct frame_tree *tree,
		    const struct output_options *options);

#endif
