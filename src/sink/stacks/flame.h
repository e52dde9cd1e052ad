/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flame graph, as an SVG picture: see flame.c. */
#ifndef TRACER_SINK_STACKS_FLAME_H
#define TRACER_SINK_STACKS_FLAME_H

#include "sink/render/outbuf.h"
#include "sink/sink.h"
#include "sink/stacks/frame_tree.h"

/* Appends a document of its own, with its style and its script. The tree is arranged. */
void flame_put(struct outbuf *out, const struct frame_tree *tree,
	       const struct output_options *options);

/*
 * The parts of it, for a page that has others, too: the <svg> element; the style sheet; and the
 * script, whose function flame(svg) makes such an element react. Neither text has "]]>" or "</".
 */
void flame_put_picture(struct outbuf *out, const struct frame_tree *tree,
		       const struct output_options *options);
void flame_put_style(struct outbuf *out);
void flame_put_script(struct outbuf *out);

#endif
