/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls as a whole, and only those that --if, --slower-than and --failed ask for.
 *
 * What a condition is about may be known at the end of a call only: its result, its duration, an
 * argument that it fills in. So the record of the entry is kept until then. If the condition is
 * about nothing but the entry, it is decided there, and of a call that does not pass nothing is
 * kept.
 *
 * A call that never ends has no end to be judged at: exit(3), or one that the end of the trace cuts
 * off. It is passed on as unfinished if its entry has decided, when its process or the trace ends.
 *
 * Ids of calls are unique in a trace. A call that was made by a parent and returns in a forked
 * child has one end in each; only the parent's is the end of the entry.
 */
#include "sink/whole_calls.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "probe/expression_fit.h"
#include "sink/call_values.h"
#include "sink/failures.h"
#include "sink/render/render.h"

#include <stdlib.h>
#include <string.h>

enum { MISFITS_NAMED = 10 };

/* A call that has not ended. */
struct open_call {
	bool is_decided;     /* by its entry: it passes */
	struct record entry; /* its values follow */
};

struct whole_calls {
	struct sink sink; /* must be first: struct sink * is cast to struct whole_calls * */
	struct sink *inner;
	struct sink_target target;
	bool decides_at_entry; /* the condition needs nothing but the entry */
	struct map fits; /* id of a probe + 1 → this, if the condition fits it, else `open` */
	struct failures failures;
	unsigned misfits; /* functions that the condition does not fit */
	struct map open;  /* id of the call → struct open_call */
};

static struct whole_calls *whole_of(struct sink *sink)
{
	return (struct whole_calls *)(void *)sink;
}

bool whole_calls_are_chosen(const struct output_options *options)
{
	return options->condition || options->slower_than || options->only_failed;
}

/* ------------------------------------------------------------------ conditions */

/* Says once for each function that the condition does not hold for any call of it. */
static void report_misfit(struct whole_calls *whole, const struct probe_info *probe,
			  const struct expression_error *why)
{
	char safe[256];

	whole->misfits++;
	if (!whole->target.options->reports_misfits || whole->target.is_beside ||
	    whole->misfits > MISFITS_NAMED + 1)
		return;
	if (whole->misfits > MISFITS_NAMED)
		diag("--if does not hold for other functions, either");
	else
		diag("--if does not hold for %s: column %zu: %s",
		     diag_safe(safe, sizeof safe, probe->display), why->column, why->message);
}

/* Returns true if the condition can hold for calls of the probe. */
static bool fits(struct whole_calls *whole, uint32_t id)
{
	const struct probe_info *probe = probe_table_get(whole->target.probes, id);
	const void *known = map_get(&whole->fits, (uint64_t)id + 1);
	struct expression_error why;

	if (known || !probe)
		return known == whole;
	const bool it_fits = expression_fits(whole->target.options->condition,
					     (enum probe_kind)probe->kind, probe->prototype, &why);

	map_put(&whole->fits, (uint64_t)id + 1, it_fits ? (void *)whole : (void *)&whole->open);
	if (!it_fits) {
		report_misfit(whole, probe, &why);
		free(why.message);
	}
	return it_fits;
}

static bool passes(struct whole_calls *whole, const struct record *entry, const struct record *end)
{
	const struct output_options *options = whole->target.options;
	struct call_values values;

	if (options->slower_than &&
	    (!end || end->kind != RECORD_RETURN || end->duration < options->slower_than))
		return false;
	if (options->condition && !fits(whole, (entry ? entry : end)->probe))
		return false;
	call_values_begin(&values, &whole->target, entry, end);
	bool holds = !options->only_failed || failures_has_failed(&whole->failures, &values);

	if (holds && options->condition) {
		const struct expression_value value = call_values_get(&values, options->condition);

		holds = expression_is_true(&value);
	}
	call_values_end(&values);
	return holds;
}

/* Returns true if all arguments of the function are captured at its entry. */
static bool has_all_at_entry(const struct whole_calls *whole, const struct record *entry)
{
	const struct probe_info *probe = probe_table_get(whole->target.probes, entry->probe);

	return probe && render_entry_count(probe->prototype) == probe->prototype->parameter_count;
}

/* ------------------------------------------------------------------ calls */

static int pass_on(const struct whole_calls *whole, const struct record *entry,
		   const struct record *end)
{
	struct sink *inner = whole->inner;
	int error = 0;

	if (inner->ops->call)
		return inner->ops->call(inner, entry, end);
	if (entry)
		error = inner->ops->record(inner, entry);
	return end && !error ? inner->ops->record(inner, end) : error;
}

static void tell_expected(const struct whole_calls *whole, const struct record *entry)
{
	if (whole->inner->ops->expect)
		whole->inner->ops->expect(whole->inner, entry);
}

static void tell_forgone(const struct whole_calls *whole, uint64_t call)
{
	if (whole->inner->ops->forgo)
		whole->inner->ops->forgo(whole->inner, call);
}

static void begin_call(struct whole_calls *whole, const struct record *entry)
{
	const bool decides = !whole_calls_are_chosen(whole->target.options) ||
			     (whole->decides_at_entry && has_all_at_entry(whole, entry));

	if (whole->inner->ops->begin)
		whole->inner->ops->begin(whole->inner, entry);
	if (decides && !passes(whole, entry, NULL))
		return;
	struct open_call *call = xmalloc(offsetof(struct open_call, entry) + entry->size);

	call->is_decided = decides;
	memcpy(&call->entry, entry, entry->size);
	/* Records of a damaged trace may have one id twice. */
	free(map_get(&whole->open, entry->call));
	map_put(&whole->open, entry->call, call);
	tell_expected(whole, entry);
}

static int end_call(struct whole_calls *whole, const struct record *end)
{
	struct open_call *call = map_get(&whole->open, end->call);
	const struct record *entry = call ? &call->entry : NULL;
	int error = 0;

	if (end->kind == RECORD_RETURN && end->number == RECORD_INHERITED) {
		if ((call && call->is_decided) || passes(whole, entry, end))
			error = pass_on(whole, NULL, end);
		return error;
	}
	if (call)
		map_remove(&whole->open, end->call);
	/* Without an entry: it decided against the call, or it was before the attach. */
	if (call ? call->is_decided || passes(whole, entry, end)
		 : end->number == RECORD_SINCE_ATTACH && passes(whole, NULL, end))
		error = pass_on(whole, entry, end);
	else
		tell_forgone(whole, end->call);
	free(call);
	return error;
}

/* Passes on, or drops, a call that will not end, and frees it; NULL: there is none. */
static int give_up_call(struct whole_calls *whole, struct open_call *call)
{
	const int error = call && call->is_decided ? pass_on(whole, &call->entry, NULL) : 0;

	if (call && !call->is_decided)
		tell_forgone(whole, call->entry.call);
	free(call);
	return error;
}

/* The same for a span that another one with its key has ended. Whoever gets whole calls is told. */
static int abandon_call(struct whole_calls *whole, struct open_call *call)
{
	if (call && whole->inner->ops->call)
		call->entry.kind = RECORD_ABANDONED;
	return give_up_call(whole, call);
}

static int compare_calls(const void *a, const void *b)
{
	const struct record *x = &(*(struct open_call *const *)a)->entry;
	const struct record *y = &(*(struct open_call *const *)b)->entry;

	return x->call < y->call ? -1 : x->call > y->call;
}

/*
 * Passes on, or drops, the calls of a process that will not end, in the order in which they were
 * made; 0: of all processes.
 */
static int give_up(struct whole_calls *whole, int32_t pid)
{
	struct vec ended = VEC_OF(struct open_call *);
	size_t cursor = 0;
	void *value;
	int error = 0;

	while (map_next(&whole->open, &cursor, NULL, &value))
		if (!pid || ((struct open_call *)value)->entry.pid == pid)
			vec_push(&ended, &value);
	if (ended.count)
		qsort(ended.items, ended.count, ended.item_size, compare_calls);
	for (size_t i = 0; i < ended.count; i++) {
		struct open_call *call = *(struct open_call **)vec_at(&ended, i);

		map_remove(&whole->open, call->entry.call);
		const int failure = give_up_call(whole, call);

		error = error ? error : failure;
	}
	vec_deinit(&ended);
	return error;
}

static int whole_record(struct sink *sink, const struct record *record)
{
	struct whole_calls *whole = whole_of(sink);
	int error = 0;

	switch (record->kind) {
	case RECORD_CALL:
		begin_call(whole, record);
		return 0;
	case RECORD_RETURN:
	case RECORD_UNWOUND:
		return end_call(whole, record);
	case RECORD_ABANDONED:
		return abandon_call(whole, map_remove(&whole->open, record->call));
	case RECORD_AROUND:
		if (whole->inner->ops->begin)
			whole->inner->ops->begin(whole->inner, record);
		return 0;
	case RECORD_RUNNING:
		tell_expected(whole, record);
		return 0;
	case RECORD_EXITED:
	case RECORD_KILLED:
	case RECORD_EXEC:
		error = give_up(whole, record->pid);
		break;
	default:
		break;
	}
	return error ? error : whole->inner->ops->record(whole->inner, record);
}

static int whole_flush(struct sink *sink)
{
	struct sink *inner = whole_of(sink)->inner;

	return inner->ops->flush(inner);
}

static int whole_finish(struct sink *sink)
{
	struct whole_calls *whole = whole_of(sink);
	const int error = give_up(whole, 0);
	const int failure = whole->inner->ops->finish(whole->inner);

	return error ? error : failure;
}

static int whole_snapshot(struct sink *sink, bool is_anew)
{
	struct sink *inner = whole_of(sink)->inner;

	return inner->ops->snapshot ? inner->ops->snapshot(inner, is_anew) : 0;
}

static int whole_dump(struct sink *sink)
{
	struct sink *inner = whole_of(sink)->inner;

	return inner->ops->dump ? inner->ops->dump(inner) : 0;
}

static void whole_forget(struct sink *sink, const struct probe_info *probe)
{
	struct sink *inner = whole_of(sink)->inner;

	map_remove(&whole_of(sink)->fits, (uint64_t)probe->id + 1);
	if (inner->ops->forget)
		inner->ops->forget(inner, probe);
}

static void whole_destroy(struct sink *sink)
{
	struct whole_calls *whole = whole_of(sink);

	map_deinit_values(&whole->open);
	map_deinit(&whole->fits);
	failures_deinit(&whole->failures);
	whole->inner->ops->destroy(whole->inner);
	free(whole);
}

static const struct sink_ops whole_ops = {
	.record = whole_record,
	.flush = whole_flush,
	.finish = whole_finish,
	.snapshot = whole_snapshot,
	.dump = whole_dump,
	.forget = whole_forget,
	.destroy = whole_destroy,
};

struct sink *whole_calls_create(const struct sink_kind *kind, const struct sink_target *target)
{
	const struct output_options *options = target->options;
	struct sink *inner = kind->create(target);

	if (!kind->wants_calls && !whole_calls_are_chosen(options))
		return inner;
	struct whole_calls *whole = xcalloc(1, sizeof *whole);

	whole->sink.ops = &whole_ops;
	whole->inner = inner;
	whole->target = *target;
	whole->decides_at_entry = options->condition && !options->slower_than &&
				  !options->only_failed &&
				  expression_is_of_entry(options->condition);
	return &whole->sink;
}
