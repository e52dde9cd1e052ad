/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graph: a rectangle for each frame, as wide as its weight, below the one that called it.
 *
 * The picture is SVG 1.1, complete without a script: places and widths are percentages, so that it
 * fits into any window, and a frame is an <svg> of its own, which clips its text. flame_script.js
 * then makes it zoom and search. It finds what it needs in the elements: data-d is the depth and
 * data-w the weight; the name is the <title> up to its last line.
 *
 * Kinds of frames have colours, and differ without them, too: traced functions are bold with a bar
 * on the left, script frames are italic. The shade depends on the name alone.
 *
 * Names come from the traced process. Whatever is not printable is escaped as in the trace, so
 * that nothing remains that XML does not allow; then what has a meaning in XML is.
 *
 * Browsers are slow with very many elements: frames that would be narrower than a tenth of a pixel
 * are left out, and the narrowest of more than FRAMES_MAX. How many, the picture says.
 */
#include "sink/stacks/flame.h"

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "sink/render/escape.h"
#include "sink/render/utf8.h"
#include "sink/stacks/flame_change.h"

#include <stdlib.h>
#include <string.h>

enum {
	FRAMES_MAX = 5000,
	NARROWEST = 12000, /* what this part of the whole is, is not drawn */
	ROW = 18,	   /* height of a frame with the gap below it, in pixels */
	BAR = 112,	   /* height of what is above the frames */
	NAME_MAX_BYTES = 1000,
	WIDE_PERCENT = 2 /* a frame as wide as this has a text and a bar without the script */
};

static const char *const style_lines[] = {
#include "sink/stacks/flame_style.inc"
};
static const char *const script_lines[] = {
#include "sink/stacks/flame_script.inc"
};

struct flame {
	struct outbuf *out;
	const struct output_options *options;
	double all;		     /* weight of the root */
	double limit;		     /* a frame is drawn if it weighs more */
	size_t left_out;	     /* frames that are not drawn */
	unsigned rows;		     /* of frames that are drawn */
	struct outbuf escaped;	     /* a name */
	struct flame_change *change; /* --flame-diff; NULL: none */
};

/* ------------------------------------------------------------------ texts */

static void put_xml(struct outbuf *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		switch (text[i]) {
		case '&':
			outbuf_text(out, "&amp;");
			break;
		case '<':
			outbuf_text(out, "&lt;");
			break;
		case '>':
			outbuf_text(out, "&gt;");
			break;
		case '"':
			outbuf_text(out, "&quot;");
			break;
		default:
			outbuf_char(out, text[i]);
		}
}

/* A text of the traced process, or of the command line. */
static void put_name(struct flame *flame, const char *name)
{
	const size_t length = strnlen(name, NAME_MAX_BYTES);
	const size_t broken = name[length] ? utf8_unfinished((const unsigned char *)name, length)
					   : 0;
	char *start = xstrndup(name, length - broken);

	flame->escaped.length = 0;
	escape_source_name(&flame->escaped, start, true);
	put_xml(flame->out, flame->escaped.text, flame->escaped.length);
	outbuf_text(flame->out, name[length] ? "..." : "");
	free(start);
}

static void put_percent(struct outbuf *out, double part, double all, int digits)
{
	char text[32];

	snprintf(text, sizeof text, "%.*f", digits, all > 0 ? part / all * 100 : 0);
	outbuf_text(out, text);
}

/* 1,234,567 */
static void put_grouped(struct outbuf *out, double number)
{
	char digits[32];
	const size_t count = (size_t)snprintf(digits, sizeof digits, "%.0f", number);

	for (size_t i = 0; i < count && i < sizeof digits - 1; i++) {
		if (i && (count - i) % 3 == 0)
			outbuf_char(out, ',');
		outbuf_char(out, digits[i]);
	}
}

static void put_time(struct outbuf *out, double ns)
{
	char text[48];

	if (ns >= 1e9)
		snprintf(text, sizeof text, "%.3f s", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, sizeof text, "%.3f ms", ns / 1e6);
	else
		snprintf(text, sizeof text, "%.3f us", ns / 1e3);
	outbuf_text(out, text);
}

static void put_weight(struct flame *flame, double weight)
{
	struct outbuf *out = flame->out;
	char text[48];

	switch (flame->options->weighs) {
	case WEIGHS_TIME:
		put_time(out, weight);
		break;
	case WEIGHS_CALLS:
		put_grouped(out, weight);
		outbuf_text(out, weight == 1 ? " call" : " calls");
		break;
	default:
		if (weight < 1e15 && weight == (double)(int64_t)weight) {
			put_grouped(out, weight);
			break;
		}
		snprintf(text, sizeof text, "%.6g", weight);
		outbuf_text(out, text);
	}
}

/* ------------------------------------------------------------------ frames */

static const char *class_of(const struct frame_node *node)
{
	static const char *const classes[FRAME_KINDS] = {"native", "script", "traced"};

	return node->parent ? classes[node->kind] : "all";
}

static const char *kind_text(const struct frame_node *node)
{
	static const char *const texts[FRAME_KINDS] = {", compiled code", ", script",
						       ", traced function"};

	return node->parent ? texts[node->kind] : "";
}

/* The lightest and the darkest shade of each kind. */
static void put_colour(struct outbuf *out, const struct frame_node *node)
{
	static const unsigned char shades[FRAME_KINDS][2][3] = {
		[FRAME_NATIVE] = {{0xd2, 0xd2, 0xc6}, {0xe6, 0xe6, 0xd8}},
		[FRAME_SCRIPT] = {{0x8e, 0xbe, 0xf0}, {0xb8, 0xd8, 0xfa}},
		[FRAME_TRACED] = {{0xf4, 0x98, 0x4c}, {0xff, 0xc4, 0x78}},
	};
	char text[16];
	uint32_t hash = 2166136261U; /* FNV-1a */
	unsigned colour[3];

	for (const char *at = node->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619U;
	for (unsigned i = 0; i < 3; i++) {
		const unsigned low = shades[node->kind][0][i], high = shades[node->kind][1][i];

		colour[i] = low + (high - low) * (hash >> 24) / 255;
	}
	snprintf(text, sizeof text, "#%02x%02x%02x", colour[0], colour[1], colour[2]);
	outbuf_text(out, text);
}

enum { MARK_BYTES = 16 };

/* What a frame is marked with, also where there are no colours: "+12.3 %" of the whole. */
static void make_mark(char *mark, enum flame_change_kind kind, double by)
{
	mark[0] = '\0';
	if (kind == CHANGE_NEW)
		snprintf(mark, MARK_BYTES, "new");
	else if (kind != CHANGE_NONE)
		snprintf(mark, MARK_BYTES, "%+.1f %%", by * 100);
}

/* Red where there is more than before, blue where there is less, and the more the stronger. */
static void put_changed_colour(struct outbuf *out, double by)
{
	static const double neutral = 0xec;
	static const double colours[2][3] = {{0x6a, 0xa6, 0xf0}, {0xf2, 0x7c, 0x6a}};
	/* A tenth of the whole has the full colour. */
	const double change = by < 0 ? -by : by, strength = change > 0.1 ? 1 : change * 10;
	unsigned colour[3];
	char text[16];

	for (unsigned i = 0; i < 3; i++)
		colour[i] = (unsigned)(neutral + (colours[by > 0][i] - neutral) * strength);
	snprintf(text, sizeof text, "#%02x%02x%02x", colour[0], colour[1], colour[2]);
	outbuf_text(out, text);
}

/* ", before 12.30 %: +3.20" */
static void put_change(struct outbuf *out, enum flame_change_kind kind, double by, double share)
{
	char text[64];

	if (kind == CHANGE_NEW)
		snprintf(text, sizeof text, ", new");
	else
		snprintf(text, sizeof text, ", before %.2f %%: %+.2f", share * 100, by * 100);
	outbuf_text(out, text);
}

static void put_frame(struct flame *flame, const struct frame_node *node, double left)
{
	struct outbuf *out = flame->out;
	const double total = frame_node_total(node);
	const bool is_wide = total * 100 >= flame->all * WIDE_PERCENT;
	const char *name = node->parent ? node->name : "all";
	enum flame_change_kind kind = CHANGE_NONE;
	double by = 0, share = 0;
	char text[96], mark[MARK_BYTES];

	if (flame->change)
		kind = flame_change_of(flame->change, node, &by, &share);
	make_mark(mark, kind, by);
	outbuf_text(out, "<svg class=\"");
	outbuf_text(out, class_of(node));
	outbuf_text(out, "\" x=\"");
	put_percent(out, left, flame->all, 6);
	outbuf_text(out, "%\" y=\"");
	outbuf_unsigned(out, (uint64_t)node->depth * ROW, 1, ' ');
	outbuf_text(out, "\" width=\"");
	put_percent(out, total, flame->all, 6);
	snprintf(text, sizeof text, "%%\" height=\"%d\" data-d=\"%u\" data-w=\"%.17g\" data-c=\"",
		 ROW, node->depth, total);
	outbuf_text(out, text);
	outbuf_text(out, mark);
	outbuf_text(out, "\"><title>");
	put_name(flame, name);
	outbuf_char(out, '\n');
	put_weight(flame, total);
	outbuf_text(out, ", ");
	put_percent(out, total, flame->all, 2);
	outbuf_text(out, " %");
	outbuf_text(out, kind_text(node));
	if (flame->change)
		put_change(out, kind, by, share);
	outbuf_text(out, "</title><rect width=\"100%\" height=\"17\" fill=\"");
	if (flame->change)
		put_changed_colour(out, by);
	else
		put_colour(out, node);
	outbuf_text(out, "\"/>");
	if (node->kind == FRAME_TRACED)
		outbuf_text(out, is_wide ? "<rect class=\"mark\" width=\"3\" height=\"17\"/>"
					 : "<rect class=\"mark\" width=\"0\" height=\"17\"/>");
	outbuf_text(out, "<text x=\"6\" y=\"13\">");
	if (is_wide) {
		outbuf_text(out, mark);
		outbuf_text(out, kind ? " " : "");
		put_name(flame, name);
	}
	outbuf_text(out, "</text></svg>\n");
}

static void put_frames(struct flame *flame, const struct frame_tree *tree)
{
	double left[FRAME_DEPTH_MAX + 2]; /* where the next frame of each depth begins */

	left[0] = 0;
	for (const struct frame_node *node = frame_tree_root(tree); node;
	     node = frame_node_after(node)) {
		const double total = frame_node_total(node);
		const double here = left[node->depth];

		left[node->depth] += total;
		left[node->depth + 1] = here;
		if (node->parent && !(total > flame->limit))
			continue;
		put_frame(flame, node, here);
	}
}

/* ------------------------------------------------------------------ what is drawn */

static int compare_down(const void *left, const void *right)
{
	const double one = *(const double *)left, other = *(const double *)right;

	return one < other ? 1 : one > other ? -1 : 0;
}

/* A frame weighs no less than those below it, so that what is drawn hangs together. */
static void choose(struct flame *flame, const struct frame_tree *tree)
{
	double *totals = xcalloc(frame_tree_size(tree), sizeof *totals);
	size_t count = 0;

	flame->all = frame_node_total(frame_tree_root(tree));
	flame->limit = flame->all / NARROWEST;
	for (const struct frame_node *node = frame_tree_root(tree); node;
	     node = frame_node_after(node))
		totals[count++] = frame_node_total(node);
	qsort(totals, count, sizeof *totals, compare_down);
	if (count > FRAMES_MAX && totals[FRAMES_MAX] > flame->limit)
		flame->limit = totals[FRAMES_MAX];
	free(totals);
	for (const struct frame_node *node = frame_tree_root(tree); node;
	     node = frame_node_after(node)) {
		const bool is_drawn = !node->parent || frame_node_total(node) > flame->limit;

		flame->left_out += !is_drawn;
		if (is_drawn && node->depth >= flame->rows)
			flame->rows = node->depth + 1;
	}
}

static void put_heading(struct flame *flame)
{
	static const char *const weights[] = {
		[WEIGHS_CALLS] = "calls", [WEIGHS_TIME] = "time", [WEIGHS_VALUE] = NULL};
	const char *weight = weights[flame->options->weighs];

	outbuf_text(flame->out, "Flame graph by ");
	if (weight)
		outbuf_text(flame->out, weight);
	else
		put_name(flame, flame->options->weight_text);
	outbuf_text(flame->out, flame->change ? ", against an earlier trace" : "");
}

static void put_left_out(struct flame *flame)
{
	struct outbuf *out = flame->out;

	if (!flame->left_out)
		return;
	outbuf_text(out, "; ");
	put_grouped(out, (double)flame->left_out);
	outbuf_text(out, flame->left_out == 1 ? " frame of" : " frames of");
	outbuf_text(out, " at most ");
	put_percent(out, flame->limit, flame->all, 3);
	outbuf_text(out, flame->left_out == 1 ? " % is left out" : " % each are left out");
}

/* What was there before, and has no place any more. */
static void put_gone(struct flame *flame)
{
	const struct frame_node *largest;
	double share;
	const size_t gone = flame->change ? flame_change_gone(flame->change, &largest, &share) : 0;
	char text[32];

	if (!gone)
		return;
	outbuf_text(flame->out, "; gone: ");
	put_grouped(flame->out, (double)gone);
	outbuf_text(flame->out, gone == 1 ? " frame, " : " frames, the largest ");
	put_name(flame, largest->name);
	snprintf(text, sizeof text, " (%.2f %%)", share * 100);
	outbuf_text(flame->out, text);
}

static const char kinds_legend[] =
	"<tspan class=\"traced\">\u2590\u2588</tspan><tspan class=\"traced name\"> "
	"traced function (bold)</tspan>"
	"<tspan class=\"script\" dx=\"16\">\u2588\u2588</tspan>"
	"<tspan class=\"script name\"> frame of a script (italic)</tspan>"
	"<tspan class=\"native\" dx=\"16\">\u2588\u2588</tspan>"
	"<tspan class=\"name\"> compiled code</tspan>";
static const char changes_legend[] =
	"<tspan class=\"more\">\u2588\u2588</tspan><tspan class=\"name\"> + more of all than "
	"before</tspan>"
	"<tspan class=\"less\" dx=\"16\">\u2588\u2588</tspan>"
	"<tspan class=\"name\"> - less of all than before</tspan>"
	"<tspan class=\"name\" dx=\"16\">new: not there before</tspan>";

/* The lines above the frames. The script puts a box for the search between them. */
static void put_bar(struct flame *flame)
{
	struct outbuf *out = flame->out;

	outbuf_text(out, "<g class=\"bar\"><rect class=\"ground\" width=\"100%\" height=\"");
	outbuf_unsigned(out, BAR - 4, 1, ' ');
	outbuf_text(out, "\"/>\n<text class=\"heading\" x=\"1%\" y=\"26\">");
	put_heading(flame);
	outbuf_text(out, "<tspan class=\"note\" dx=\"12\">");
	put_weight(flame, flame->all);
	put_left_out(flame);
	put_gone(flame);
	outbuf_text(out, "</tspan></text>\n<text class=\"legend\" x=\"1%\" y=\"76\">");
	outbuf_text(out, flame->change ? changes_legend : kinds_legend);
	outbuf_text(out, "</text>\n<text class=\"status\" x=\"1%\" y=\"99\" role=\"status\">"
			 "</text></g>\n");
}

void flame_put_picture(struct outbuf *out, const struct frame_tree *tree,
		       const struct output_options *options)
{
	struct flame flame = {.out = out, .options = options};

	outbuf_init(&flame.escaped, -1);
	if (options->frames_before)
		flame.change = flame_change_create(tree, options->frames_before);
	choose(&flame, tree);
	outbuf_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"100%\" "
			 "height=\"");
	outbuf_unsigned(out, (uint64_t)flame.rows * ROW + BAR + ROW, 1, ' ');
	outbuf_text(out, "\" tabindex=\"0\">\n<title>");
	put_heading(&flame);
	outbuf_text(out, "</title>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
			 "<svg class=\"frames\" x=\"1%\" width=\"98%\" y=\"");
	outbuf_unsigned(out, BAR, 1, ' ');
	outbuf_text(out, "\">\n");
	put_frames(&flame, tree);
	outbuf_text(out, "</svg>\n");
	put_bar(&flame);
	outbuf_text(out, "</svg>\n");
	outbuf_deinit(&flame.escaped);
	flame_change_destroy(flame.change);
}

void flame_put_style(struct outbuf *out)
{
	outbuf_lines(out, style_lines, sizeof style_lines / sizeof *style_lines);
}

void flame_put_script(struct outbuf *out)
{
	outbuf_lines(out, script_lines, sizeof script_lines / sizeof *script_lines);
}

/* The style and the script are within the picture, since a document has one element. */
void flame_put(struct outbuf *out, const struct frame_tree *tree,
	       const struct output_options *options)
{
	static const char end[] = "</svg>\n";

	outbuf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	flame_put_picture(out, tree, options);
	out->length -= sizeof end - 1;
	outbuf_text(out, "<style><![CDATA[\n");
	flame_put_style(out);
	outbuf_text(out, "]]></style>\n<script><![CDATA[\n");
	flame_put_script(out);
	outbuf_text(out, "flame(document.documentElement);\n]]></script>\n");
	outbuf_text(out, end);
}
