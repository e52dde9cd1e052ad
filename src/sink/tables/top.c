/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --top: the calls as rows, for a view that is drawn again and again, and as the table of -c at the
 * end.
 *
 * All calls are counted by --by from the beginning, so that the table at the end is complete
 * whatever was looked at. A filter that is typed in, and another grouping, begin with rows of their
 * own: calls that have gone by are not there any more. While there is neither, no call is counted
 * twice.
 */
#include "sink/tables/top.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/expression_fit.h"
#include "sink/render/render.h"
#include "sink/tables/summary_output.h"
#include "sink/tables/top_line.h"
#include "tracee/clock.h"

#include <stdlib.h>
#include <string.h>

struct top {
	struct sink sink; /* must be first: struct sink * is cast to struct top * */
	struct sink_target target;
	struct top_keys keys;
	struct top_rows all;	/* of all calls, by --by */
	struct top_rows chosen; /* of what is looked at, if that is something else */
	enum top_grouping grouping;
	struct expression *filter; /* NULL: none */
	char *filter_text;
	struct map fits; /* id of a probe + 1 → `fits` if the filter fits it, else `keys` */
	struct summary_output output; /* of the table at the end */
};

static struct top *top_of(struct sink *sink)
{
	return (struct top *)(void *)sink;
}

static bool is_chosen(const struct top *top)
{
	return top->filter || top->grouping != TOP_BY;
}

/* ------------------------------------------------------------------ calls */

/* Returns true if the filter can hold for calls of the probe. */
static bool fits(struct top *top, const struct probe_info *probe)
{
	const void *known = map_get(&top->fits, (uint64_t)probe->id + 1);

	if (known)
		return known == &top->fits;
	const bool it_fits = expression_fits(top->filter, (enum probe_kind)probe->kind,
					     probe->prototype, NULL);

	map_put(&top->fits, (uint64_t)probe->id + 1,
		it_fits ? (void *)&top->fits : (void *)&top->keys);
	return it_fits;
}

static bool passes(struct top *top, struct call_values *values)
{
	if (!top->filter)
		return true;
	if (!values->probe || !fits(top, values->probe))
		return false;
	const struct expression_value value = call_values_get(values, top->filter);

	return expression_is_true(&value);
}

/* A row of a thread is shown with the thread's name, which is not asked for with each call. */
static void name_row(const struct top *top, enum top_grouping grouping,
		     const struct call_values *values, struct top_row *row)
{
	const struct code_names *code = top->target.code;
	const int32_t tid = (values->entry ? values->entry : values->end)->tid;
	char name[16] = "";

	if (grouping != TOP_THREAD || !code || !code->thread)
		return;
	code->thread(code->context, tid, name);
	row->name = xasprintf("%s %s", row->key, name);
}

static void count(struct top *top, struct top_rows *rows, enum top_grouping grouping,
		  struct call_values *values)
{
	struct strbuf key = {0};
	bool is_new;

	top_keys_add(&top->keys, grouping, values, &key);
	struct top_row *row = top_rows_find(rows, key.text, key.length,
					    top->target.options->max_groups, &is_new);

	if (is_new)
		name_row(top, grouping, values, row);
	top_rows_count(rows, row, values->entry, values->end);
	strbuf_deinit(&key);
}

static int top_call(struct sink *sink, const struct record *entry, const struct record *end)
{
	struct top *top = top_of(sink);
	struct call_values values;

	call_values_begin(&values, &top->target, entry, end);
	count(top, &top->all, TOP_BY, &values);
	if (is_chosen(top) && passes(top, &values))
		count(top, &top->chosen, top->grouping, &values);
	call_values_end(&values);
	return 0;
}

static int top_record(struct sink *sink, const struct record *record)
{
	summary_output_record(&top_of(sink)->output, record);
	return 0;
}

/* ------------------------------------------------------------------ what is looked at */

const struct top_rows *top_rows(const struct top *top)
{
	return is_chosen(top) ? &top->chosen : &top->all;
}

void top_tick(struct top *top)
{
	const uint64_t now = clock_now();

	top_rows_tick(&top->all, now);
	if (is_chosen(top))
		top_rows_tick(&top->chosen, now);
}

enum top_grouping top_grouping(const struct top *top)
{
	return top->grouping;
}

const char *top_heading(const struct top *top)
{
	return top_keys_heading(&top->keys, top->grouping);
}

/* Other calls are looked at, or by other keys. */
static void begin_anew(struct top *top)
{
	top_rows_end(&top->chosen);
	top_rows_begin(&top->chosen, clock_wall(), clock_now());
}

void top_regroup(struct top *top)
{
	do
		top->grouping = (top->grouping + 1) % TOP_GROUPINGS;
	while (!top_keys_has(&top->keys, top->grouping));
	begin_anew(top);
}

const char *top_filter(const struct top *top)
{
	return top->filter_text;
}

/* Returns false if there are functions, and the expression fits none; *error says why. */
static bool fits_any(const struct top *top, const struct expression *expression,
		     struct expression_error *error)
{
	const struct probe_info *probe;
	bool fits_one = false;
	uint32_t cursor = 0;

	error->message = NULL;
	while (!fits_one && (probe = probe_table_next(top->target.probes, &cursor))) {
		struct expression_error why;

		fits_one = expression_fits(expression, (enum probe_kind)probe->kind,
					   probe->prototype, &why);
		if (!fits_one && error->message)
			free(why.message);
		else if (!fits_one)
			*error = why;
	}
	if (!fits_one)
		return !error->message;
	free(error->message);
	return true;
}

bool top_set_filter(struct top *top, const char *text, struct expression_error *error)
{
	struct expression *filter = NULL;

	if (text && text[strspn(text, " ")]) {
		filter = expression_parse(text, error);
		if (!filter)
			return false;
		if (!fits_any(top, filter, error)) {
			expression_free(filter);
			return false;
		}
	}
	expression_free(top->filter);
	free(top->filter_text);
	map_deinit(&top->fits);
	top->filter = filter;
	top->filter_text = filter ? xstrdup(text) : NULL;
	begin_anew(top);
	return true;
}

const struct output_options *top_options(const struct top *top)
{
	return top->target.options;
}

void top_put_call(const struct top *top, struct outbuf *out, const struct top_call *call)
{
	top_line_put(out, &top->target, call->entry, call->end);
}

/* ------------------------------------------------------------------ the sink */

static int top_flush(struct sink *sink)
{
	(void)sink;
	return 0;
}

/* The table is that of all calls, as of -c. */
static int top_finish(struct sink *sink)
{
	struct top *top = top_of(sink);
	struct vec rows = VEC_OF(struct summary_row);
	struct tally total = {0};

	for (size_t i = 0; i < top_rows_number(&top->all); i++) {
		const struct top_row *row = top_rows_at(&top->all, i);

		tally_add(&total, &row->tally);
		/* The row keeps what its tally refers to. */
		vec_push(&rows, &(struct summary_row){row->key, row->tally});
	}
	summary_sort_by_name(&rows);
	const int error = summary_output_write(&top->output, &rows, &total, true);

	vec_deinit(&rows);
	tally_deinit(&total);
	if (top->all.others)
		diag("more than %u different keys: the others are counted together "
		     "(--max-groups)",
		     top->target.options->max_groups);
	return error;
}

static void top_forget(struct sink *sink, const struct probe_info *probe)
{
	struct top *top = top_of(sink);

	top_rows_forget(&top->all, probe->id);
	top_rows_forget(&top->chosen, probe->id);
	top_keys_forget(&top->keys, probe);
	map_remove(&top->fits, (uint64_t)probe->id + 1);
}

static void top_destroy(struct sink *sink)
{
	struct top *top = top_of(sink);

	top_rows_end(&top->all);
	top_rows_end(&top->chosen);
	top_keys_end(&top->keys);
	map_deinit(&top->fits);
	expression_free(top->filter);
	free(top->filter_text);
	summary_output_deinit(&top->output);
	free(top);
}

static const struct sink_ops top_ops = {
	.record = top_record,
	.call = top_call,
	.flush = top_flush,
	.finish = top_finish,
	.forget = top_forget,
	.destroy = top_destroy,
};

struct sink *top_sink_create(const struct sink_target *target)
{
	struct top *top = xcalloc(1, sizeof *top);

	top->sink.ops = &top_ops;
	top->target = *target;
	top_keys_begin(&top->keys, target->options);
	top_rows_begin(&top->all, clock_wall(), clock_now());
	top_rows_begin(&top->chosen, clock_wall(), clock_now());
	summary_output_init(&top->output, target);
	if (target->top)
		*target->top = top;
	return &top->sink;
}
