/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lays out what --top shows.
 *
 *	what is traced
 *	calls a second, calls, lost, since when, grouping
 *	the filter, if there is one; the last message of the tracer, if there is one
 *	heading
 *	rows
 *	keys, or what is typed in, or why something was not done
 */
#include "view/top_layout.h"

#include "base/time_of_day.h"
#include "sink/render/escape.h"
#include "view/top_cells.h"

#include <string.h>

/* ROOMY: lines that a screen has if it has some for what is not so important. */
enum { NS_PER_S = 1000000000, ROOMY = 12, WIDE = 70 };

/* A frame that is being filled from above. */
struct page {
	struct frame *frame;
	unsigned line; /* the next one */
	struct outbuf out;
};

static void end_line(struct page *page, enum frame_style style)
{
	frame_put_buffer(page->frame, page->line++, style, &page->out);
}

/* Returns how many lines are left, but for the last one. */
static unsigned room_below(const struct page *page)
{
	return page->frame->height > page->line + 1 ? page->frame->height - page->line - 1 : 1;
}

/* ------------------------------------------------------------------ above */

static void put_clock(struct outbuf *out, uint64_t time)
{
	char clock[TIME_OF_DAY_BYTES];

	time_of_day(clock, time);
	outbuf_text(out, clock);
}

static void put_counts(struct page *page, const struct top_view *view)
{
	const struct top_rows *rows = top_rows(view->top);
	struct outbuf *out = &page->out;

	outbuf_text(out, view->is_paused ? "PAUSED  " : "");
	top_cells_put_rate(out, rows->all.rate);
	outbuf_text(out, " calls/s  ");
	outbuf_unsigned(out, rows->all.calls, 1, ' ');
	outbuf_text(out, " calls  lost ");
	outbuf_unsigned(out, view->lost, 1, ' ');
	outbuf_text(out, "  since ");
	put_clock(out, rows->begun);
	outbuf_text(out, " (");
	outbuf_unsigned(out, view->now > rows->begun ? (view->now - rows->begun) / NS_PER_S : 0, 1,
			' ');
	outbuf_text(out, " s)  by ");
	escape_source_name(out, top_heading(view->top), top_options(view->top)->utf8);
	end_line(page, FRAME_PLAIN);
}

static void put_choice(struct outbuf *out)
{
	outbuf_text(out, out->length ? ", of these only " : "only ");
}

/* Says which calls are counted, unless all are. */
static void put_filters(struct page *page, const struct top_view *view)
{
	const struct output_options *options = top_options(view->top);
	const char *filters[] = {options->condition_text, top_filter(view->top)};
	struct outbuf *out = &page->out;

	if (options->sample > 1) {
		put_choice(out);
		outbuf_text(out, "one of ");
		outbuf_unsigned(out, options->sample, 1, ' ');
		outbuf_text(out, " calls (--sample)");
	}
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
		if (filters[i]) {
			put_choice(out);
			escape_source_name(out, filters[i], options->utf8);
		}
	if (out->length)
		end_line(page, FRAME_TITLE);
}

static void put_top(struct page *page, const struct top_view *view)
{
	outbuf_text(&page->out, view->what);
	end_line(page, FRAME_TITLE);
	put_counts(page, view);
	put_filters(page, view);
	if (view->message && page->frame->height >= ROOMY) {
		escape_source_name(&page->out, view->message, false);
		end_line(page, FRAME_PLAIN);
	}
}

/* ------------------------------------------------------------------ rows */

static size_t index_of(const struct top_view *view)
{
	for (size_t i = 0; i < view->rows.count; i++)
		if (*(const struct top_row **)vec_at(&view->rows, i) == view->selected)
			return i;
	return 0;
}

/* Returns the index of the first line to be shown, so that `selected` is among them. */
static size_t scroll(size_t first, size_t selected, size_t count, unsigned page)
{
	if (selected < first)
		first = selected;
	if (page && selected >= first + page)
		first = selected - page + 1;
	if (first + page > count)
		first = count > page ? count - page : 0;
	return first;
}

static void put_rows(struct page *page, struct top_view *view)
{
	const struct top_widths widths = top_cells_fit(page->frame->width);
	const bool utf8 = top_options(view->top)->utf8;
	const size_t selected = index_of(view);

	top_cells_put_heading(&page->out, &widths, view->order, top_heading(view->top));
	end_line(page, FRAME_HEADING);
	view->page = room_below(page);
	view->first = scroll(view->first, selected, view->rows.count, view->page);
	for (unsigned i = 0; i < view->page && view->first + i < view->rows.count; i++) {
		const struct top_row *row = *(const struct top_row **)vec_at(&view->rows,
									     view->first + i);
		const bool is_selected = view->first + i == selected;

		top_cells_put_row(&page->out, &widths, row, is_selected, utf8);
		end_line(page, is_selected ? FRAME_SELECTED : FRAME_PLAIN);
	}
	if (!view->rows.count)
		frame_put(page->frame, page->line++, FRAME_PLAIN, " no call has ended yet");
}

/* ------------------------------------------------------------------ calls and help */

/* Returns the text without so many characters at its beginning. */
static const char *shifted(const char *text, unsigned characters)
{
	for (; characters && *text; characters--)
		for (text++; ((unsigned char)*text & 0xc0) == 0x80; text++)
			;
	return text;
}

static void put_calls(struct page *page, struct top_view *view)
{
	outbuf_text(&page->out, "the last calls of ");
	escape_source_name(&page->out, top_row_name(view->looked_at), top_options(view->top)->utf8);
	end_line(page, FRAME_TITLE);
	outbuf_text(&page->out, shifted("time                   seconds thread call", view->shift));
	end_line(page, FRAME_HEADING);
	view->page = room_below(page);
	if (view->first_call + view->page > view->calls.count)
		view->first_call = view->calls.count > view->page ? view->calls.count - view->page
								  : 0;
	for (unsigned i = 0; i < view->page && view->first_call + i < view->calls.count; i++) {
		const char *call = *(char **)vec_at(&view->calls, view->first_call + i);

		frame_put(page->frame, page->line++, FRAME_PLAIN, shifted(call, view->shift));
	}
}

static void put_help(struct page *page)
{
	static const char *const text[] = {
		"q        leave: the processes run on, untraced; the table of all calls follows",
		"space    pause: the view stands still, calls are counted on",
		"< >      the column by which rows are ordered; or r calls/s, c calls, t total,",
		"         5 p50, 9 p99, m max, n name",
		"g        rows by: --by or function, line (-W), fingerprint of texts, thread",
		"/        filter: an expression as of --if, such as arg1 > 4k; empty: all calls",
		"up down  select a row; also page up, page down, home, end",
		"Enter    the last calls of the row; left and right move them; Esc: back",
		"",
		"calls/s is since the last refresh; all else since the time above.",
		"A filter and another grouping begin with the calls that follow.",
	};

	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		frame_put(page->frame, page->line++, FRAME_PLAIN, text[i]);
}

/* ------------------------------------------------------------------ below */

#define FILTER_PROMPT "filter: "

/* Returns the end of what was typed in, as much as there is room for, with the cursor behind it. */
static const char *end_of_input(const struct top_view *view, unsigned columns)
{
	const unsigned room = columns > sizeof FILTER_PROMPT ? columns - sizeof FILTER_PROMPT : 0;
	unsigned characters = 0;

	for (size_t i = 0; i < view->input.length; i++)
		characters += ((unsigned char)view->input.text[i] & 0xc0) != 0x80;
	return shifted(view->input.text, characters > room ? characters - room : 0);
}

static void put_bottom(struct page *page, const struct top_view *view)
{
	static const char *const keys[] = {
		[MODE_ROWS] =
			"q quit  <> order  g group  / filter  space pause  Enter calls  ? help",
		[MODE_CALLS] = "Esc back  up/down scroll  left/right move  space pause  q quit",
		[MODE_HELP] = "Esc back  q quit",
		[MODE_FILTER] = "",
	};
	const unsigned last = page->frame->height - 1;
	const char *text = view->error ? view->error : keys[view->mode];

	if (view->mode == MODE_FILTER) {
		if (view->error && last)
			frame_put(page->frame, last - 1, FRAME_ERROR, view->error);
		outbuf_text(&page->out, FILTER_PROMPT);
		outbuf_text(&page->out, end_of_input(view, page->frame->width));
		frame_put_buffer(page->frame, last, FRAME_PLAIN, &page->out);
		page->frame->cursor = (int)last;
		return;
	}
	if (!view->error && view->mode == MODE_ROWS && page->frame->width < WIDE)
		text = "q quit  / filter  Enter calls  ? help";
	frame_put(page->frame, last, view->error ? FRAME_ERROR : FRAME_PLAIN, text);
}

struct frame *top_layout(struct top_view *view, unsigned lines, unsigned columns)
{
	struct page page = {.frame = frame_create(lines, columns)};

	outbuf_init(&page.out, -1);
	put_top(&page, view);
	if (view->mode == MODE_HELP)
		put_help(&page);
	else if (view->mode == MODE_CALLS)
		put_calls(&page, view);
	else
		put_rows(&page, view);
	put_bottom(&page, view);
	outbuf_deinit(&page.out);
	return page.frame;
}
