/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of -c with --by or --sum: a row for each different key, which is the text of the keys'
 * values; without --by it is the function.
 *
 * The sink gets calls as a whole (whole_calls.c), since a key may be a result. A call that does not
 * return is counted when its process or the trace ends. Keys come from the traced process, so there
 * may be as many as there are calls: when there are --max-groups, calls with other keys are counted
 * together.
 */
#include "sink/tables/groups.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proto/names.h"
#include "sink/call_key.h"
#include "sink/call_values.h"
#include "sink/tables/summary_output.h"

#include <stdlib.h>
#include <string.h>

#define OTHERS "(others)"

struct group {
	struct tally tally;
	char key[];
};

struct groups_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct groups_sink * */
	struct sink_target target;
	struct names groups;  /* key → struct group, which owns the key */
	struct group *others; /* in `groups`; NULL: there is room for all */
	bool has_buckets;     /* each call's time is kept, in a bucket */
	struct summary_output output;
};

static struct groups_sink *groups_of(struct sink *sink)
{
	return (struct groups_sink *)(void *)sink;
}

static struct group *make_group(struct groups_sink *groups, const char *key, size_t length)
{
	struct group *group = xcalloc(1, sizeof *group + length + 1);

	memcpy(group->key, key, length);
	names_put(&groups->groups, group->key, length, group);
	return group;
}

static struct group *find_group(struct groups_sink *groups, const struct strbuf *key)
{
	struct group *group = (struct group *)(uintptr_t)names_get(&groups->groups, key->text,
								   key->length);

	if (group)
		return group;
	if (groups->groups.count < groups->target.options->max_groups)
		return make_group(groups, key->text, key->length);
	if (!groups->others)
		groups->others = make_group(groups, OTHERS, sizeof OTHERS - 1);
	return groups->others;
}

static void add_sum(struct tally *tally, const struct expression_value *value)
{
	if (value->type == EXPRESSION_NONE || value->type == EXPRESSION_TEXT)
		return;
	if (value->type == EXPRESSION_FLOAT)
		tally->sum += value->real;
	else if (value->type == EXPRESSION_SIGNED)
		tally->sum += (double)(int64_t)value->number;
	else
		tally->sum += (double)value->number;
	tally->sums_durations = value->unit == UNIT_DURATION;
}

static int groups_call(struct sink *sink, const struct record *entry, const struct record *end)
{
	struct groups_sink *groups = groups_of(sink);
	const struct expression *sum = groups->target.options->sum;
	struct call_values values;
	struct strbuf key = {0};

	summary_output_record(&groups->output, end ? end : entry);
	call_values_begin(&values, &groups->target, entry, end);
	call_key_add(&key, &values, groups->target.options->keys);
	struct tally *tally = &find_group(groups, &key)->tally;

	tally_call(tally, entry ? entry->time : end->time - end->duration);
	if (end && end->kind == RECORD_RETURN) {
		tally_time(tally, end->duration);
		if (groups->has_buckets)
			tally_bucket(tally, end->duration, 1);
	}
	if (sum) {
		const struct expression_value value = call_values_get(&values, sum);

		add_sum(tally, &value);
	}
	strbuf_deinit(&key);
	call_values_end(&values);
	return 0;
}

static int groups_record(struct sink *sink, const struct record *record)
{
	summary_output_record(&groups_of(sink)->output, record);
	return 0;
}

static int groups_flush(struct sink *sink)
{
	(void)sink;
	return 0;
}

/* Writes the table of all that was counted since counting began. */
static int write_table(struct groups_sink *groups, bool is_last)
{
	struct vec rows = VEC_OF(struct summary_row);
	struct tally total = {0};

	for (size_t i = 0; i < groups->groups.count; i++) {
		const struct group *group = groups->groups.entries[i].value;

		tally_add(&total, &group->tally);
		/* The group keeps what its tally refers to. */
		vec_push(&rows, &(struct summary_row){group->key, group->tally});
	}
	summary_sort_by_name(&rows);
	const int error = summary_output_write(&groups->output, &rows, &total, is_last);

	vec_deinit(&rows);
	tally_deinit(&total);
	return error;
}

static void report_others(const struct groups_sink *groups)
{
	if (groups->others && !groups->target.is_beside)
		diag("more than %u different keys: the others are counted together, as " OTHERS
		     " (--max-groups)",
		     groups->target.options->max_groups);
}

static int groups_finish(struct sink *sink)
{
	struct groups_sink *groups = groups_of(sink);
	const int error = write_table(groups, true);

	report_others(groups);
	return error;
}

static void forget_groups(struct groups_sink *groups)
{
	for (size_t i = 0; i < groups->groups.count; i++) {
		struct group *group = (struct group *)(uintptr_t)groups->groups.entries[i].value;

		tally_deinit(&group->tally);
		free(group);
	}
	names_deinit(&groups->groups);
	groups->others = NULL;
}

static int groups_snapshot(struct sink *sink, bool is_anew)
{
	struct groups_sink *groups = groups_of(sink);
	const int error = write_table(groups, false);

	if (is_anew) {
		report_others(groups);
		forget_groups(groups);
		summary_output_restart(&groups->output);
	}
	return error;
}

static void groups_destroy(struct sink *sink)
{
	struct groups_sink *groups = groups_of(sink);

	forget_groups(groups);
	summary_output_deinit(&groups->output);
	free(groups);
}

static const struct sink_ops groups_ops = {
	.record = groups_record,
	.call = groups_call,
	.flush = groups_flush,
	.finish = groups_finish,
	.snapshot = groups_snapshot,
	.destroy = groups_destroy,
};

struct sink *groups_sink_create(const struct sink_target *target)
{
	struct groups_sink *groups = xcalloc(1, sizeof *groups);

	groups->sink.ops = &groups_ops;
	groups->target = *target;
	groups->has_buckets = summary_needs_buckets(target->options);
	summary_output_init(&groups->output, target);
	return &groups->sink;
}
