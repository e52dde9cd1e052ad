/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that belong together, shown as calls of their own name.
 *
 * A span begins when one function is called, and ends when another one returns, for an equal key:
 * an asynchronous query is sent by mysql_send_query() and over when mysql_read_query_result() of
 * the same connection has returned. Out of the records of these calls, this sink makes those of a
 * call: the entry of the first one, with its arguments, and the end of the last one, with its
 * result. Whoever gets them (conditions, tables, lines) need not know that there was no such call.
 *
 * A statement that was prepared is executed by a function that does not know its text. With `with`,
 * the arguments are those of another function's last call with an equal key.
 *
 * A second begin with the same key ends the first span, of which no end will come. But a function
 * that also is an end of the span, as sqlite3_step() for its last row, goes on with it. Ends
 * without a begin mean nothing.
 *
 * Keys are texts of values, with the process. Tables have hashes of them; the texts are compared.
 */
#include "sink/spans.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proto/names.h"
#include "sink/call_values.h"
#include "sink/render/render.h"

#include <stdlib.h>
#include <string.h>

enum { REMEMBERED_MAX = 20000, OPEN_MAX = 200000 };

/* What a span is to whoever gets its records: a function with these parameters and this result. */
struct description {
	const struct probe_info *probe; /* NULL: not made */
	struct prototype prototype;
	bool has_result; /* the function that ends the span was found */
};

/* The record of an entry, kept under a key. */
struct kept {
	char *key;
	uint64_t call;	/* the span's id */
	uint64_t begun; /* time of its begin */
	uint64_t sum;	/* `summed`: of the calls so far */
	struct record *entry;
	struct description *description; /* of a span; borrowed from its state */
};

/*
 * What is kept, up to a number. Some of it will not be asked for again: a begin whose end never
 * comes. When `young` has half of that number, it becomes `old`, and what was old is forgotten. So
 * what was kept last is there, as many as half of the number.
 */
struct store {
	struct map young, old; /* hash of the key → struct kept */
};

/* What this sink knows of a span. */
struct span_state {
	const struct active_span *active;
	struct store open;
	struct store remembered; /* of `with` */
	/*
	 * Each is made when a span needs it first. The parameters are those of the function that
	 * begins it, or of the function behind `with`, if the text was heard.
	 */
	struct description own, with;
};

struct spans_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct spans_sink * */
	struct sink *inner;
	struct sink_target target;
	struct probe_table *probes;
	struct span_state *states;
	size_t count;
	struct names hidden;
	struct map
		entries; /* id of a call → struct record *: entries of functions that end spans */
	uint64_t next_call;
};

static struct spans_sink *spans_of(struct sink *sink)
{
	return (struct spans_sink *)(void *)sink;
}

/* ------------------------------------------------------------------ keys */

static struct record *copy_record(const struct record *record)
{
	return xmemdup(record, record->size);
}

static void free_kept(struct kept *kept)
{
	if (!kept)
		return;
	free(kept->entry);
	free(kept->key);
	free(kept);
}

static void free_all(struct map *map)
{
	size_t cursor = 0;
	void *value;

	while (map_next(map, &cursor, NULL, &value))
		free_kept(value);
	map_deinit(map);
}

static void free_store(struct store *store)
{
	free_all(&store->young);
	free_all(&store->old);
}

static uint64_t hash_of(const char *key)
{
	return hash_bytes(HASH_START, key, strlen(key));
}

static struct kept *find_in(const struct map *map, const char *key)
{
	struct kept *kept = map_get(map, hash_of(key));

	return kept && !strcmp(kept->key, key) ? kept : NULL;
}

static struct kept *find(const struct store *store, const char *key)
{
	struct kept *young = find_in(&store->young, key);

	return young ? young : find_in(&store->old, key);
}

static struct kept *take(struct store *store, const char *key)
{
	if (find_in(&store->young, key))
		return map_remove(&store->young, hash_of(key));
	return find_in(&store->old, key) ? map_remove(&store->old, hash_of(key)) : NULL;
}

/* Takes over `kept`, whose key is that. */
static void keep(struct store *store, struct kept *kept, const char *key)
{
	const uint64_t hash = hash_of(key);

	kept->key = xstrdup(key);
	free_kept(take(store, key));
	free_kept(map_remove(&store->young, hash)); /* another key with this hash */
	map_put(&store->young, hash, kept);
}

/* Forgets what is old if enough is young. */
static void age(struct store *store, size_t most)
{
	if (store->young.count < most / 2)
		return;
	free_all(&store->old);
	store->old = store->young;
	store->young = (struct map){0};
}

/* Returns the key of a call, which the caller frees. */
static char *key_of(const struct vec *expressions, struct call_values *values)
{
	const struct record *record = values->entry ? values->entry : values->end;
	struct strbuf key = {0};

	strbuf_printf(&key, "%d ", record->pid);
	for (size_t i = 0; i < expressions->count; i++) {
		const struct expression_value value =
			call_values_get(values, *(struct expression **)vec_at(expressions, i));

		/* A statement is the same one, whichever function shows its text. */
		if (value.unit == UNIT_POINTER || value.is_object)
			strbuf_printf(&key, "0x%llx", (unsigned long long)value.number);
		else
			call_values_add(&key, &value);
		strbuf_add_char(&key, ' ');
	}
	if (!expressions->count)
		strbuf_printf(&key, "%d", record->tid);
	char *text = xstrndup(key.text, key.length);

	strbuf_deinit(&key);
	return text;
}

static const struct vec *with_key_of(const struct span_state *state)
{
	return state->active->with_key.count ? &state->active->with_key : &state->active->key;
}

/* Returns true for a call of the function itself, and not of one that a module makes. */
static bool is_named(const struct call_values *values, const char *function)
{
	return function && values->probe && values->probe->kind != PROBE_CALL &&
	       !strcmp(values->probe->name, function);
}

/* ------------------------------------------------------------------ records of spans */

static int pass_on(const struct spans_sink *spans, const struct record *record)
{
	return spans->inner->ops->record(spans->inner, record);
}

/* The result is that of the first of the functions that end the span. */
static void learn_result(struct description *description, const struct probe_info *last)
{
	description->prototype.result = last->prototype->result;
	description->prototype.fails = last->prototype->fails;
	description->has_result = true;
}

/*
 * Makes the span's description. `first` is the function that its parameters are of. If the function
 * that ends it is in a library that is loaded later, the result gets its type at the first end.
 */
static void describe(struct spans_sink *spans, const struct span *span,
		     struct description *description, const struct probe_info *first)
{
	const struct probe_info *info;
	uint32_t id = 0;

	description->prototype = (struct prototype){
		.name = span->name,
		.result = first->prototype->result,
		.parameters = first->prototype->parameters,
		.parameter_count = render_entry_count(first->prototype),
		.is_unknown = first->prototype->is_unknown,
	};
	while ((info = probe_table_next(spans->probes, &id)))
		if (info->kind != PROBE_CALL && !strcmp(info->name, span->ends[0].function)) {
			learn_result(description, info);
			break;
		}
	description->probe = probe_table_add(spans->probes, PROBE_ENTRY, span->name, first->module,
					     span->name, &description->prototype);
}

/* Passes on that a span will not end. */
static int abandon(const struct spans_sink *spans, struct kept *open)
{
	open->entry->kind = RECORD_ABANDONED;
	return pass_on(spans, open->entry);
}

/* Makes room for one more span: those that are forgotten will not end. */
static int make_room(const struct spans_sink *spans, struct store *store)
{
	size_t cursor = 0;
	void *value;
	int error = 0;

	if (store->young.count < OPEN_MAX / 2)
		return 0;
	while (!error && map_next(&store->old, &cursor, NULL, &value))
		error = abandon(spans, value);
	age(store, OPEN_MAX);
	return error;
}

static int begin_span(struct spans_sink *spans, struct span_state *state,
		      struct call_values *values)
{
	const struct record *entry = values->entry;
	char *key = key_of(&state->active->key, values);
	struct kept *open = find(&state->open, key);
	int error = 0;

	if (open && (state->active->span->summed || !strcmp(state->active->span->ends[0].function,
							    state->active->span->begin.function))) {
		free(key);
		return 0;
	}
	if (open)
		error = abandon(spans, open);
	char *with_key = key_of(with_key_of(state), values);
	const struct kept *with = find(&state->remembered, with_key);
	struct kept *begun = xcalloc(1, sizeof *begun);

	free(with_key);
	const struct record *first = with ? with->entry : entry;
	struct description *description = with ? &state->with : &state->own;
	const struct probe_info *probe = probe_table_get(spans->probes, first->probe);

	if (!description->probe && probe)
		describe(spans, state->active->span, description, probe);

	begun->entry = copy_record(first);
	begun->call = begun->entry->call = RECORD_SPAN_CALL | ++spans->next_call;
	begun->begun = begun->entry->time = entry->time;
	begun->entry->depth = entry->depth;
	begun->entry->stack = entry->stack;
	begun->entry->pc = entry->pc;
	begun->entry->tid = entry->tid;
	begun->entry->probe = description->probe ? description->probe->id : entry->probe;
	begun->description = description;
	keep(&state->open, begun, key);
	free(key);
	if (!error)
		error = make_room(spans, &state->open);
	return error ? error : pass_on(spans, begun->entry);
}

/* Copies the end of a call with nothing but its result. */
static struct record *copy_result(const struct record *end)
{
	struct record *copy = xmalloc(end->size);
	struct value_cursor cursor = value_cursor_start(end);
	const struct record_value *value;
	size_t length = sizeof *copy;

	*copy = *end;
	copy->value_count = 0;
	while ((value = value_cursor_next(&cursor)) && value->argument == VALUE_RESULT) {
		const size_t bytes = sizeof *value + ((value->length + 7U) & ~7U);

		if (length + bytes > end->size)
			break;
		memcpy((char *)copy + length, value, sizeof *value + value->length);
		length += bytes;
		copy->value_count++;
	}
	copy->size = (uint32_t)length;
	return copy;
}

static int end_span(struct spans_sink *spans, struct span_state *state, struct call_values *values)
{
	char *key = key_of(&state->active->key, values);
	struct kept *open = take(&state->open, key);

	free(key);
	if (!open)
		return 0;
	if (!open->description->has_result &&
	    is_named(values, state->active->span->ends[0].function))
		learn_result(open->description, values->probe);
	struct record *end = copy_result(values->end);

	end->call = open->call;
	end->probe = open->entry->probe;
	end->depth = open->entry->depth;
	end->stack = open->entry->stack;
	end->tid = open->entry->tid;
	end->pc = open->entry->pc;
	end->duration = state->active->span->summed ? open->sum
			: end->time > open->begun   ? end->time - open->begun
						    : 0;
	const int error = pass_on(spans, end);

	free(end);
	free_kept(open);
	return error;
}

static bool holds(struct call_values *values, const struct expression *condition)
{
	if (!condition)
		return true;
	const struct expression_value value = call_values_get(values, condition);

	return expression_is_true(&value);
}

/* ------------------------------------------------------------------ calls */

static int see_entry(struct spans_sink *spans, const struct record *entry)
{
	struct call_values values;
	int error = 0;
	bool is_wanted = false;

	call_values_begin(&values, &spans->target, entry, NULL);
	for (size_t i = 0; i < spans->count && !error; i++) {
		struct span_state *state = &spans->states[i];
		const struct span *span = state->active->span;

		for (unsigned k = 0; k < span->end_count; k++)
			is_wanted |= is_named(&values, span->ends[k].function);
		is_wanted |= is_named(&values, span->begin.function);
		if (is_named(&values, span->with.function) && holds(&values, state->active->with)) {
			struct kept *kept = xcalloc(1, sizeof *kept);
			char *key = key_of(with_key_of(state), &values);

			kept->entry = copy_record(entry);
			keep(&state->remembered, kept, key);
			age(&state->remembered, REMEMBERED_MAX);
			free(key);
		}
		if (is_named(&values, span->begin.function) && holds(&values, state->active->begin))
			error = begin_span(spans, state, &values);
	}
	call_values_end(&values);
	if (is_wanted)
		map_put(&spans->entries, entry->call, copy_record(entry));
	return error;
}

/* Adds the time of a call to the span that it belongs to. */
static void add_time(struct span_state *state, struct call_values *values)
{
	char *key = key_of(&state->active->key, values);
	struct kept *open = find(&state->open, key);

	if (open && values->end->kind == RECORD_RETURN)
		open->sum += values->end->duration;
	free(key);
}

static int see_end(struct spans_sink *spans, const struct record *end)
{
	struct record *entry = map_remove(&spans->entries, end->call);
	struct call_values values;
	int error = 0;

	if (end->number == RECORD_INHERITED && end->kind == RECORD_RETURN) {
		if (entry)
			map_put(&spans->entries, end->call, entry);
		return 0;
	}
	call_values_begin(&values, &spans->target, entry, end);
	for (size_t i = 0; i < spans->count && !error; i++) {
		struct span_state *state = &spans->states[i];
		const struct span *span = state->active->span;

		if (span->summed && is_named(&values, span->begin.function))
			add_time(state, &values);
		for (unsigned k = 0; k < span->end_count && !error; k++)
			if (is_named(&values, span->ends[k].function) &&
			    holds(&values, state->active->ends[k]))
				error = end_span(spans, state, &values);
	}
	call_values_end(&values);
	free(entry);
	return error;
}

/* Returns true for calls of functions that are caught for spans only. */
static bool is_hidden(const struct spans_sink *spans, const struct record *record)
{
	const struct probe_info *info = probe_table_get(spans->probes, record->probe);

	return info && info->kind != PROBE_CALL &&
	       names_get(&spans->hidden, info->name, strlen(info->name));
}

/* Frees the entries of one map that belong to a process. */
static void forget_entries(struct map *map, int32_t pid, bool are_kept)
{
	struct vec gone = VEC_OF(uint64_t);
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(map, &cursor, &key, &value)) {
		const struct record *entry = are_kept ? ((struct kept *)value)->entry : value;

		if (entry->pid == pid)
			vec_push(&gone, &key);
	}
	for (size_t i = 0; i < gone.count; i++) {
		value = map_remove(map, *(uint64_t *)vec_at(&gone, i));
		if (are_kept)
			free_kept(value);
		else
			free(value);
	}
	vec_deinit(&gone);
}

static void forget_process(struct spans_sink *spans, int32_t pid)
{
	forget_entries(&spans->entries, pid, false);
	for (size_t i = 0; i < spans->count; i++) {
		struct span_state *state = &spans->states[i];

		forget_entries(&state->open.young, pid, true);
		forget_entries(&state->open.old, pid, true);
		forget_entries(&state->remembered.young, pid, true);
		forget_entries(&state->remembered.old, pid, true);
	}
}

static int spans_record(struct sink *sink, const struct record *record)
{
	struct spans_sink *spans = spans_of(sink);
	const bool is_entry = record->kind == RECORD_CALL;
	const bool is_end = record->kind == RECORD_RETURN || record->kind == RECORD_UNWOUND;
	int error = 0;

	if (record->kind == RECORD_EXITED || record->kind == RECORD_KILLED ||
	    record->kind == RECORD_EXEC)
		forget_process(spans, record->pid);
	if (is_entry)
		error = see_entry(spans, record);
	if (!error &&
	    !((is_entry || is_end || record->kind == RECORD_RUNNING) && is_hidden(spans, record)))
		error = pass_on(spans, record);
	return is_end && !error ? see_end(spans, record) : error;
}

/* ------------------------------------------------------------------ the sink */

static int spans_flush(struct sink *sink)
{
	return spans_of(sink)->inner->ops->flush(spans_of(sink)->inner);
}

static int spans_finish(struct sink *sink)
{
	return spans_of(sink)->inner->ops->finish(spans_of(sink)->inner);
}

static int spans_dump(struct sink *sink)
{
	struct sink *inner = spans_of(sink)->inner;

	return inner->ops->dump ? inner->ops->dump(inner) : 0;
}

static int spans_snapshot(struct sink *sink, bool is_anew)
{
	struct sink *inner = spans_of(sink)->inner;

	return inner->ops->snapshot ? inner->ops->snapshot(inner, is_anew) : 0;
}

static void spans_forget(struct sink *sink, const struct probe_info *probe)
{
	struct sink *inner = spans_of(sink)->inner;

	if (inner->ops->forget)
		inner->ops->forget(inner, probe);
}

static void spans_destroy(struct sink *sink)
{
	struct spans_sink *spans = spans_of(sink);

	for (size_t i = 0; i < spans->count; i++) {
		free_store(&spans->states[i].open);
		free_store(&spans->states[i].remembered);
	}
	map_deinit_values(&spans->entries);
	names_deinit(&spans->hidden);
	spans->inner->ops->destroy(spans->inner);
	free(spans->states);
	free(spans);
}

static const struct sink_ops spans_ops = {
	.record = spans_record,
	.flush = spans_flush,
	.finish = spans_finish,
	.snapshot = spans_snapshot,
	.dump = spans_dump,
	.forget = spans_forget,
	.destroy = spans_destroy,
};

struct sink *spans_create(struct sink *inner, const struct sink_target *target,
			  const struct active_spans *active, struct probe_table *probes)
{
	struct spans_sink *spans = xcalloc(1, sizeof *spans);

	spans->sink.ops = &spans_ops;
	spans->inner = inner;
	spans->target = *target;
	spans->probes = probes;
	spans->count = active->spans.count;
	spans->states = xcalloc(spans->count + 1, sizeof *spans->states);
	for (size_t i = 0; i < spans->count; i++)
		spans->states[i].active = vec_at(&active->spans, i);
	for (size_t i = 0; i < active->hidden.count; i++) {
		const char *name = *(const char **)vec_at(&active->hidden, i);

		names_put(&spans->hidden, name, strlen(name), name);
	}
	return &spans->sink;
}
