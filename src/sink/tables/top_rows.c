/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of --top.
 *
 * The last calls of each row are kept as copies of their records, and become text only when they
 * are looked at: to render each call would cost more than to count it. The memory for them is
 * bounded twice: a row keeps KEPT_MAX calls, and all rows together BYTES_MAX bytes; beyond that the
 * oldest call of all goes first. As calls come in the order of time, the oldest of all is the
 * oldest of its row.
 *
 * The figures are apart from the counts, so that a view can stand still while counting goes on, and
 * be drawn again without being computed again.
 */
#include "sink/tables/top_rows.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 100, BYTES_MAX = 16 << 20, NS_PER_S = 1000000000 };
enum { MEDIAN = 500, HIGH = 990 };

#define OTHERS "(others)"

void top_rows_begin(struct top_rows *rows, uint64_t wall, uint64_t now)
{
	*rows = (struct top_rows){.begun = wall, .ticked = now};
}

size_t top_rows_number(const struct top_rows *rows)
{
	return rows->names.count;
}

struct top_row *top_rows_at(const struct top_rows *rows, size_t index)
{
	return (struct top_row *)(uintptr_t)rows->names.entries[index].value;
}

const char *top_row_name(const struct top_row *row)
{
	return row->name ? row->name : row->key;
}

/* ------------------------------------------------------------------ the last calls */

static void take_out(struct top_rows *rows, struct top_call *call)
{
	struct top_row *row = call->row;

	*(call->newer_in_row ? &call->newer_in_row->older_in_row
			     : &row->newest) = call->older_in_row;
	*(call->older_in_row ? &call->older_in_row->newer_in_row
			     : &row->oldest) = call->newer_in_row;
	*(call->newer ? &call->newer->older : &rows->newest) = call->older;
	*(call->older ? &call->older->newer : &rows->oldest) = call->newer;
	row->kept--;
	rows->bytes -= call->size;
}

static void drop(struct top_rows *rows, struct top_call *call)
{
	take_out(rows, call);
	free(call);
}

/* Returns memory for a call of a row: that of one that has to go, if it is of that size. */
static struct top_call *make_room(struct top_rows *rows, struct top_row *row, size_t size)
{
	struct top_call *oldest = row->oldest;

	if (row->kept < KEPT_MAX)
		return xmalloc(size);
	take_out(rows, oldest);
	if (oldest->size == size)
		return oldest;
	free(oldest);
	return xmalloc(size);
}

static void keep(struct top_rows *rows, struct top_row *row, const struct record *entry,
		 const struct record *end)
{
	const size_t entry_size = entry ? entry->size : 0, end_size = end ? end->size : 0;
	const size_t size = sizeof(struct top_call) + entry_size + end_size;
	struct top_call *call = make_room(rows, row, size);
	char *place = (char *)(call + 1);

	*call = (struct top_call){
		.row = row, .older_in_row = row->newest, .older = rows->newest, .size = size};
	if (entry)
		call->entry = memcpy(place, entry, entry_size);
	if (end)
		call->end = memcpy(place + entry_size, end, end_size);
	*(row->newest ? &row->newest->newer_in_row : &row->oldest) = call;
	row->newest = call;
	*(rows->newest ? &rows->newest->newer : &rows->oldest) = call;
	rows->newest = call;
	row->kept++;
	rows->bytes += size;
	for (struct top_call *oldest = rows->oldest, *newer;
	     oldest && oldest != call && rows->bytes > BYTES_MAX; oldest = newer) {
		newer = oldest->newer;
		drop(rows, oldest);
	}
}

void top_rows_forget(struct top_rows *rows, uint32_t probe)
{
	struct top_call *older;

	for (struct top_call *call = rows->newest; call; call = older) {
		older = call->older;
		if ((call->entry ? call->entry : call->end)->probe == probe)
			drop(rows, call);
	}
}

/* ------------------------------------------------------------------ counting */

void top_rows_end(struct top_rows *rows)
{
	for (struct top_call *call = rows->oldest, *newer; call; call = newer) {
		newer = call->newer;
		free(call);
	}
	for (size_t i = 0; i < top_rows_number(rows); i++) {
		struct top_row *row = top_rows_at(rows, i);

		tally_deinit(&row->tally);
		free(row->name);
		free(row);
	}
	names_deinit(&rows->names);
	*rows = (struct top_rows){0};
}

static struct top_row *make_row(struct top_rows *rows, const char *key, size_t length)
{
	struct top_row *row = xcalloc(1, sizeof *row + length + 1);

	memcpy(row->key, key, length);
	names_put(&rows->names, row->key, length, row);
	return row;
}

struct top_row *top_rows_find(struct top_rows *rows, const char *key, size_t length, unsigned most,
			      bool *is_new)
{
	struct top_row *row = (struct top_row *)(uintptr_t)names_get(&rows->names, key, length);

	*is_new = !row && top_rows_number(rows) < most;
	if (row)
		return row;
	if (*is_new)
		return make_row(rows, key, length);
	if (!rows->others)
		rows->others = make_row(rows, OTHERS, sizeof OTHERS - 1);
	return rows->others;
}

void top_rows_count(struct top_rows *rows, struct top_row *row, const struct record *entry,
		    const struct record *end)
{
	if (entry)
		tally_call(&row->tally, entry->time);
	else if (end)
		tally_call(&row->tally, end->time - end->duration);
	if (end && end->kind == RECORD_RETURN) {
		tally_time(&row->tally, end->duration);
		tally_bucket(&row->tally, end->duration, 1);
	}
	keep(rows, row, entry, end);
}

/* ------------------------------------------------------------------ figures */

static double rate_of(uint64_t calls, uint64_t elapsed)
{
	return elapsed ? (double)calls * NS_PER_S / (double)elapsed : 0;
}

static void update(struct top_row *row, uint64_t elapsed)
{
	const struct tally *tally = &row->tally;
	struct top_figures *figures = &row->figures;
	const bool has_changed = tally->calls != figures->calls;

	figures->rate = rate_of(tally->calls - figures->calls, elapsed);
	if (!has_changed)
		return;
	figures->calls = tally->calls;
	figures->time = tally->time;
	figures->has_times = tally->times != NULL;
	if (!tally->times)
		return;
	figures->p50 = tally_quantile(tally, MEDIAN);
	figures->p99 = tally_quantile(tally, HIGH);
	figures->longest = tally->longest;
	histogram_cells(tally->times, figures->times);
}

void top_rows_tick(struct top_rows *rows, uint64_t now)
{
	const uint64_t elapsed = now - rows->ticked;
	uint64_t calls = 0, time = 0;

	for (size_t i = 0; i < top_rows_number(rows); i++) {
		struct top_row *row = top_rows_at(rows, i);

		update(row, elapsed);
		calls += row->figures.calls;
		time += row->figures.time;
	}
	rows->all.rate = rate_of(calls - rows->all.calls, elapsed);
	rows->all.calls = calls;
	rows->all.time = time;
	rows->ticked = now;
}
