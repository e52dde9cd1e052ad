/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The view of --top.
 *
 * A row that is selected stays selected wherever the order puts it. Rows are never removed, but by
 * another grouping or filter, which begin with rows of their own: then nothing is selected, and the
 * calls of a row are left.
 */
#include "view/top_view.h"

#include "base/xalloc.h"
#include "view/top_layout.h"

#include <stdlib.h>
#include <string.h>

enum { SHIFT = 16, INPUT_MAX = 1000 };

struct top_view *top_view_create(struct top *top, const char *what)
{
	struct top_view *view = xcalloc(1, sizeof *view);
	const int sort = top_options(top)->sort;

	view->top = top;
	view->what = xstrdup(what);
	view->order = sort == SORT_NAME ? TOP_NAME : sort == SORT_CALLS ? TOP_CALLS : TOP_TOTAL;
	vec_init(&view->rows, sizeof(const struct top_row *));
	vec_init(&view->calls, sizeof(char *));
	strbuf_add(&view->input, "");
	return view;
}

static void clear_calls(struct top_view *view)
{
	for (size_t i = 0; i < view->calls.count; i++)
		free(*(char **)vec_at(&view->calls, i));
	vec_clear(&view->calls);
}

void top_view_destroy(struct top_view *view)
{
	if (!view)
		return;
	clear_calls(view);
	vec_deinit(&view->calls);
	vec_deinit(&view->rows);
	strbuf_deinit(&view->input);
	free(view->what);
	free(view->message);
	free(view->error);
	free(view);
}

/* ------------------------------------------------------------------ rows in order */

static double figure_of(const struct top_row *row, enum top_column order)
{
	const struct top_figures *figures = &row->figures;

	switch (order) {
	case TOP_RATE:
		return figures->rate;
	case TOP_CALLS:
		return (double)figures->calls;
	case TOP_P50:
		return (double)figures->p50;
	case TOP_P99:
		return (double)figures->p99;
	case TOP_MAX:
		return (double)figures->longest;
	default:
		return (double)figures->time;
	}
}

static int compare(const void *a, const void *b, void *order)
{
	const struct top_row *left = *(const struct top_row *const *)a;
	const struct top_row *right = *(const struct top_row *const *)b;
	const enum top_column column = *(const enum top_column *)order;
	int result = 0;

	if (column != TOP_NAME) {
		const double x = figure_of(left, column), y = figure_of(right, column);

		result = (y > x) - (y < x);
		if (!result)
			result = (right->figures.time > left->figures.time) -
				 (right->figures.time < left->figures.time);
	}
	return result ? result : strcmp(top_row_name(left), top_row_name(right));
}

static void sort_rows(struct top_view *view)
{
	if (view->rows.count > 1)
		qsort_r(view->rows.items, view->rows.count, view->rows.item_size, compare,
			&view->order);
}

static void list_rows(struct top_view *view)
{
	const struct top_rows *rows = top_rows(view->top);

	vec_clear(&view->rows);
	for (size_t i = 0; i < top_rows_number(rows); i++) {
		const struct top_row *row = top_rows_at(rows, i);

		if (row->figures.calls)
			vec_push(&view->rows, &row);
	}
	sort_rows(view);
}

static void list_calls(struct top_view *view)
{
	struct outbuf out;

	clear_calls(view);
	outbuf_init(&out, -1);
	for (const struct top_call *call = view->looked_at->newest; call;
	     call = call->older_in_row) {
		top_put_call(view->top, &out, call);
		outbuf_char(&out, '\0');
		char *line = xstrdup(out.text);

		vec_push(&view->calls, &line);
		out.length = 0;
		out.line_start = 0;
	}
	outbuf_deinit(&out);
}

void top_view_tick(struct top_view *view, uint64_t now, uint64_t lost, char *message)
{
	if (view->is_paused) {
		free(message);
		return;
	}
	top_tick(view->top);
	free(view->message);
	view->message = message;
	view->now = now;
	view->lost = lost;
	list_rows(view);
	if (view->mode == MODE_CALLS)
		list_calls(view);
}

struct frame *top_view_draw(struct top_view *view, unsigned lines, unsigned columns)
{
	return top_layout(view, lines, columns);
}

/* ------------------------------------------------------------------ keys */

static void set_error(struct top_view *view, char *error)
{
	free(view->error);
	view->error = error;
}

/* The rows are others now. */
static void begin_anew(struct top_view *view)
{
	view->selected = NULL;
	view->looked_at = NULL;
	view->first = 0;
	view->is_paused = false;
	list_rows(view);
}

/* Moves the selection by so many rows. */
static void move(struct top_view *view, long by)
{
	long index = 0;
	const long last = (long)view->rows.count - 1;

	for (long i = 0; i <= last; i++)
		if (*(const struct top_row **)vec_at(&view->rows, (size_t)i) == view->selected)
			index = i;
	index += by;
	index = index > last ? last : index;
	index = index < 0 ? 0 : index;
	if (last >= 0)
		view->selected = *(const struct top_row **)vec_at(&view->rows, (size_t)index);
}

static void scroll_calls(struct top_view *view, long by)
{
	const long first = (long)view->first_call + by;
	const long last = (long)view->calls.count - 1;

	view->first_call = first < 0 || last < 0 ? 0 : (size_t)(first > last ? last : first);
}

/* Obeys a key that moves something. Returns false if it is another one. */
static bool move_by_key(struct top_view *view, const struct view_key *key)
{
	void (*const by)(struct top_view *, long) = view->mode == MODE_CALLS ? scroll_calls : move;
	const long page = view->page > 1 ? (long)view->page - 1 : 1;
	const long all = 1L << 30;

	switch (key->kind) {
	case KEY_IS_UP:
		by(view, -1);
		return true;
	case KEY_IS_DOWN:
		by(view, 1);
		return true;
	case KEY_IS_PAGE_UP:
		by(view, -page);
		return true;
	case KEY_IS_PAGE_DOWN:
		by(view, page);
		return true;
	case KEY_IS_HOME:
		by(view, -all);
		return true;
	case KEY_IS_END:
		by(view, all);
		return true;
	default:
		return false;
	}
}

static void set_order(struct top_view *view, unsigned column)
{
	view->order = column;
	view->selected = NULL;
	view->first = 0;
	sort_rows(view);
}

/* The next column to the right or the left; no order is by the histogram. */
static void move_order(struct top_view *view, unsigned by)
{
	unsigned column = (view->order + by) % TOP_COLUMNS;

	if (column == TOP_STRIP)
		column = (column + by) % TOP_COLUMNS;
	set_order(view, column);
}

/* Returns true if the key is a letter for a column. */
static bool order_by_letter(struct top_view *view, char letter)
{
	static const char letters[TOP_COLUMNS] = {
		[TOP_RATE] = 'r', [TOP_CALLS] = 'c', [TOP_TOTAL] = 't',	 [TOP_P50] = '5',
		[TOP_P99] = '9',  [TOP_MAX] = 'm',   [TOP_STRIP] = '\0', [TOP_NAME] = 'n'};
	const char *found = letter ? memchr(letters, letter, sizeof letters) : NULL;

	if (found)
		set_order(view, (unsigned)(found - letters));
	return found != NULL;
}

static void look_at_row(struct top_view *view)
{
	if (!view->rows.count)
		return;
	if (!view->selected)
		move(view, 0);
	view->looked_at = view->selected;
	view->first_call = 0;
	view->shift = 0;
	view->mode = MODE_CALLS;
	list_calls(view);
}

static void begin_filter(struct top_view *view)
{
	const char *filter = top_filter(view->top);

	strbuf_clear(&view->input);
	strbuf_add(&view->input, filter ? filter : "");
	view->mode = MODE_FILTER;
}

static void set_filter(struct top_view *view)
{
	struct expression_error error;

	if (top_set_filter(view->top, view->input.text, &error)) {
		view->mode = MODE_ROWS;
		begin_anew(view);
		return;
	}
	set_error(view, xasprintf("column %zu: %s", error.column, error.message));
	free(error.message);
}

/* Removes the last character, of one byte or more. */
static void erase(struct strbuf *text)
{
	while (text->length && ((unsigned char)text->text[text->length - 1] & 0xc0) == 0x80)
		text->text[--text->length] = '\0';
	if (text->length)
		text->text[--text->length] = '\0';
}

static void type(struct top_view *view, const struct view_key *key)
{
	switch (key->kind) {
	case KEY_IS_TEXT:
		if (view->input.length < INPUT_MAX)
			strbuf_add(&view->input, key->text);
		break;
	case KEY_IS_BACKSPACE:
		erase(&view->input);
		break;
	case KEY_IS_ERASE_LINE:
		strbuf_clear(&view->input);
		strbuf_add(&view->input, "");
		break;
	case KEY_IS_ENTER:
		set_filter(view);
		break;
	case KEY_IS_ESCAPE:
		view->mode = MODE_ROWS;
		break;
	default:
		break;
	}
}

/* Keys that are for the list of rows only. */
static void rows_key(struct top_view *view, const struct view_key *key)
{
	const char letter = key->kind == KEY_IS_TEXT ? key->text[0] : '\0';

	if (key->kind == KEY_IS_ENTER) {
		look_at_row(view);
	} else if (key->kind == KEY_IS_RIGHT || letter == '>') {
		move_order(view, 1);
	} else if (key->kind == KEY_IS_LEFT || letter == '<') {
		move_order(view, TOP_COLUMNS - 1);
	} else if (letter == '/') {
		begin_filter(view);
	} else if (letter == 'g') {
		top_regroup(view->top);
		begin_anew(view);
	} else if (letter == '?' || letter == 'h') {
		view->mode = MODE_HELP;
	} else {
		order_by_letter(view, letter);
	}
}

static void calls_key(struct top_view *view, const struct view_key *key)
{
	if (key->kind == KEY_IS_RIGHT)
		view->shift += SHIFT;
	else if (key->kind == KEY_IS_LEFT)
		view->shift -= view->shift < SHIFT ? view->shift : SHIFT;
	else if (key->kind == KEY_IS_ENTER)
		view->mode = MODE_ROWS;
}

bool top_view_key(struct top_view *view, const struct view_key *key)
{
	const char letter = key->kind == KEY_IS_TEXT ? key->text[0] : '\0';

	set_error(view, NULL);
	if (key->kind == KEY_IS_SUSPEND) {
		set_error(view,
			  xstrdup("no stop by Ctrl-Z: the traced process would have to wait"));
		return true;
	}
	if (view->mode == MODE_FILTER) {
		type(view, key);
		return true;
	}
	if (letter == 'q')
		return false;
	if (letter == ' ')
		view->is_paused = !view->is_paused;
	else if (key->kind == KEY_IS_ESCAPE)
		view->mode = MODE_ROWS;
	else if (view->mode == MODE_HELP || move_by_key(view, key))
		return true;
	else if (view->mode == MODE_CALLS)
		calls_key(view, key);
	else
		rows_key(view, key);
	return true;
}
