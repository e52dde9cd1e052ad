/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks of calls, as FlameGraph's flamegraph.pl and speedscope read them: frames from the
 * outermost in, with semicolons between, a blank, and a whole number that is not below 0. Names are
 * UTF-8 with everything else escaped, whatever the locale is, but for a terminal; they have no
 * semicolon (folded.c).
 *
 * The number is of calls, of microseconds, or of what --weight=EXPR says, rounded. Readers want no
 * fractions, and cannot show less than nothing: a sum below 0 becomes 0, which is said.
 */
#include "sink/stacks/frame_lines.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "sink/render/escape.h"
#include "sink/stacks/folded.h"

#include <unistd.h>

enum { NS_PER_US = 1000 };

static uint64_t number_of(const struct frame_node *node, const struct output_options *options)
{
	const double weight = options->weighs == WEIGHS_TIME ? node->weight / NS_PER_US
							     : node->weight;

	if (!(weight > 0))
		return 0;
	return weight < 1e19 ? (uint64_t)(weight + 0.5) : (uint64_t)1e19;
}

int frame_lines_put(struct outbuf *out, const struct frame_tree *tree,
		    const struct output_options *options)
{
	const struct frame_node *way[FRAME_DEPTH_MAX + 1];
	const bool utf8 = options->utf8 || !isatty(out->fd);
	struct strbuf line = {0};
	size_t below = 0;
	int error = 0;

	for (const struct frame_node *node = frame_tree_root(tree); node && !error;
	     node = frame_node_after(node)) {
		way[node->depth] = node;
		if (!node->calls)
			continue;
		strbuf_clear(&line);
		/* At the root: there was no room for a frame. */
		strbuf_add(&line, node->depth ? "" : "(others)");
		for (unsigned i = 1; i <= node->depth; i++) {
			strbuf_add(&line, i > 1 ? ";" : "");
			folded_add_text(&line, way[i]->name);
		}
		below += node->weight < 0;
		escape_source_name(out, line.text, utf8);
		outbuf_char(out, ' ');
		outbuf_unsigned(out, number_of(node, options), 1, ' ');
		outbuf_newline(out);
		error = outbuf_flush_full(out);
	}
	strbuf_deinit(&line);
	if (below)
		diag("--weight: of %zu stack%s the sum is below 0, and shown as 0", below,
		     below == 1 ? "" : "s");
	return error;
}
