/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink for the table of -c. A call is counted when it is made, so that one that never returns
 * (exit) is in the table; its time is added when it returns. Times include nested calls, as in
 * ltrace. Counts are kept by probe id, as an index. Functions of several modules that are shown by
 * the same name become one row when the table is made, or when their probe is removed: so libraries
 * with ever new names need no more memory than the table has rows. With -W a row is a function and
 * the script line that calls it; such counts are kept by name from the beginning.
 */
#include "sink/tables/summary.h"

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "proto/names.h"
#include "sink/sink.h"
#include "sink/stacks/stack_lines.h"
#include "sink/tables/summary_output.h"

#include <stdlib.h>
#include <string.h>

/* The counts of probes that were removed, by the name they are shown with. */
struct past {
	struct tally tally;
	char name[];
};

struct summary_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct summary_sink * */
	const struct probe_table *probes;
	const struct output_options *options;
	struct vec tallies; /* of struct tally, by probe id */
	struct names past;  /* name → struct past, which owns the name */
	/* -W: probe id and number of the stack → struct past, whose name has the script line. */
	struct map lines;
	const struct stack_table *stacks;
	bool has_buckets; /* each call's time is kept, in a bucket */
	struct summary_output output;
};

static struct summary_sink *summary_of(struct sink *sink)
{
	return (struct summary_sink *)(void *)sink;
}

/* Returns NULL for an id that no probe has, as in a damaged record. */
static struct tally *find_tally(struct summary_sink *summary, uint32_t probe)
{
	if (probe >= summary->tallies.count && !probe_table_get(summary->probes, probe))
		return NULL;
	while (probe >= summary->tallies.count)
		vec_push(&summary->tallies, NULL);
	return vec_at(&summary->tallies, probe);
}

/* With --by=function, the function of all modules is one row. */
static const char *name_of(const struct summary_sink *summary, const struct probe_info *probe)
{
	return summary->options->keys ? probe->name : probe->display;
}

static struct past *find_past(struct summary_sink *summary, const char *name)
{
	size_t length = strlen(name);
	struct past *past = (struct past *)(uintptr_t)names_get(&summary->past, name, length);

	if (past)
		return past;
	past = xcalloc(1, sizeof *past + length + 1);
	memcpy(past->name, name, length);
	names_put(&summary->past, past->name, length, past);
	return past;
}

/* Returns the counts for the function and script line of a call. */
static struct tally *find_line(struct summary_sink *summary, const struct record *record)
{
	const uint64_t key = (uint64_t)record->probe << 32 | record->stack;
	const struct probe_info *probe = probe_table_get(summary->probes, record->probe);
	struct past *past = map_get(&summary->lines, key);

	if (!past && probe) {
		struct strbuf name = {0};

		strbuf_add(&name, probe->display);
		stack_lines_add_place(&name, summary->stacks, record->stack, summary->options);
		past = find_past(summary, name.text);
		map_put(&summary->lines, key, past);
		strbuf_deinit(&name);
	}
	return past ? &past->tally : NULL;
}

static struct tally *tally_of(struct summary_sink *summary, const struct record *record)
{
	return summary->options->script_line && record->stack ? find_line(summary, record)
							      : find_tally(summary, record->probe);
}

/* The call has returned; what is known of its entry depends on where that was. */
static void add_return(const struct summary_sink *summary, struct tally *tally,
		       const struct record *record)
{
	/* An inherited call counts in the process that made it. */
	if (record->number != RECORD_INHERITED) {
		tally_time(tally, record->duration);
		if (summary->has_buckets)
			tally_bucket(tally, record->duration, 1);
	}
	/* Its entry was not seen. */
	if (record->number == RECORD_SINCE_ATTACH)
		tally_call(tally, record->time - record->duration);
}

static void add_counted(const struct summary_sink *summary, struct tally *tally,
			const struct record *record)
{
	const struct record_bucket *buckets;
	const size_t count = summary->has_buckets ? record_buckets(record, &buckets) : 0;

	tally->calls += (uint64_t)record->number;
	tally->time += record->duration;
	for (size_t i = 0; i < count; i++)
		tally_bucket(tally, buckets[i].duration, buckets[i].calls);
}

static int summary_record(struct sink *sink, const struct record *record)
{
	const struct summary_sink *summary = summary_of(sink);
	struct tally *tally;

	summary_output_record(&summary_of(sink)->output, record);
	if (record->kind == RECORD_PROBES) {
		summary_of(sink)->output.planted = record->call;
		summary_of(sink)->output.inside = (uint64_t)record->number;
		summary_of(sink)->output.lost = record->duration;
	}
	if (record->kind != RECORD_CALL && record->kind != RECORD_RETURN &&
	    record->kind != RECORD_COUNTED)
		return 0;
	tally = tally_of(summary_of(sink), record);
	if (!tally)
		return 0;
	if (record->kind == RECORD_CALL)
		tally_call(tally, record->time);
	else if (record->kind == RECORD_RETURN)
		add_return(summary, tally, record);
	else
		add_counted(summary, tally, record);
	return 0;
}

/* There is nothing to show before the end. */
static int summary_flush(struct sink *sink)
{
	(void)sink;
	return 0;
}

/* A row has counts of its own, to which those of others of its name are added. */
static void push_row(struct vec *rows, const char *name, const struct tally *tally)
{
	struct summary_row *row = vec_push(rows, NULL);

	row->name = name;
	tally_add(&row->tally, tally);
}

/* Makes one row per name, sorted by name. Returns the sum of all rows. */
static struct tally collect_rows(const struct summary_sink *summary, struct vec *rows)
{
	struct tally total = {0};
	size_t kept = 0;

	for (size_t i = 0; i < summary->tallies.count; i++) {
		const struct tally *tally = vec_at(&summary->tallies, i);
		const struct probe_info *probe = probe_table_get(summary->probes, (uint32_t)i);

		if (probe && (tally->calls || tally->time))
			push_row(rows, name_of(summary, probe), tally);
	}
	for (size_t i = 0; i < summary->past.count; i++) {
		const struct past *past = summary->past.entries[i].value;

		if (past->tally.calls || past->tally.time)
			push_row(rows, past->name, &past->tally);
	}
	summary_sort_by_name(rows);
	for (size_t i = 0; i < rows->count; i++) {
		struct summary_row *row = vec_at(rows, i);
		struct summary_row *last = kept ? vec_at(rows, kept - 1) : NULL;

		tally_add(&total, &row->tally);
		if (last && strcmp(last->name, row->name) == 0) {
			tally_add(&last->tally, &row->tally);
			tally_deinit(&row->tally);
		} else {
			*(struct summary_row *)vec_at(rows, kept++) = *row;
		}
	}
	rows->count = kept;
	return total;
}

static void free_rows(struct vec *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		tally_deinit(&((struct summary_row *)vec_at(rows, i))->tally);
	vec_deinit(rows);
}

/* Writes the table of all that was counted since counting began. */
static int write_table(struct summary_sink *summary, bool is_last)
{
	struct vec rows = VEC_OF(struct summary_row);
	struct tally total = collect_rows(summary, &rows);
	const int error = summary_output_write(&summary->output, &rows, &total, is_last);

	free_rows(&rows);
	tally_deinit(&total);
	return error;
}

static int summary_finish(struct sink *sink)
{
	return write_table(summary_of(sink), true);
}

static void free_past(struct summary_sink *summary)
{
	for (size_t i = 0; i < summary->past.count; i++) {
		struct past *past = (struct past *)(uintptr_t)summary->past.entries[i].value;

		tally_deinit(&past->tally);
		free(past);
	}
	names_deinit(&summary->past);
	map_deinit(&summary->lines);
}

static int summary_snapshot(struct sink *sink, bool is_anew)
{
	struct summary_sink *summary = summary_of(sink);
	const int error = write_table(summary, false);

	if (is_anew) {
		for (size_t i = 0; i < summary->tallies.count; i++)
			tally_deinit(vec_at(&summary->tallies, i));
		free_past(summary);
		summary_output_restart(&summary->output);
	}
	return error;
}

static void summary_forget(struct sink *sink, const struct probe_info *probe)
{
	struct summary_sink *summary = summary_of(sink);

	map_deinit(&summary->lines); /* its id may be given to another probe */
	if (probe->id >= summary->tallies.count)
		return;
	struct tally *tally = vec_at(&summary->tallies, probe->id);

	if (tally->calls || tally->time)
		tally_add(&find_past(summary, name_of(summary, probe))->tally, tally);
	tally_deinit(tally);
}

static void summary_destroy(struct sink *sink)
{
	struct summary_sink *summary = summary_of(sink);

	free_past(summary);
	for (size_t i = 0; i < summary->tallies.count; i++)
		tally_deinit(vec_at(&summary->tallies, i));
	vec_deinit(&summary->tallies);
	summary_output_deinit(&summary->output);
	free(summary);
}

static const struct sink_ops summary_ops = {
	.record = summary_record,
	.flush = summary_flush,
	.finish = summary_finish,
	.snapshot = summary_snapshot,
	.forget = summary_forget,
	.destroy = summary_destroy,
};

struct sink *summary_sink_create(const struct sink_target *target)
{
	struct summary_sink *summary = xcalloc(1, sizeof *summary);

	summary->sink.ops = &summary_ops;
	summary->probes = target->probes;
	summary->options = target->options;
	summary->has_buckets = summary_needs_buckets(target->options);
	summary->stacks = target->stacks;
	summary_output_init(&summary->output, target);
	vec_init(&summary->tallies, sizeof(struct tally));
	return &summary->sink;
}
