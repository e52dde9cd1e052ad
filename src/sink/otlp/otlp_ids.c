/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which span and which trace of OpenTelemetry a call is.
 *
 * A span is written when its call has ended, and the calls in it have ended before. So a call needs
 * the id of the span around it, and of the trace, before these are written. Both are made of ids
 * that the records have: a span's id of that of its call, a trace's id of that of the outermost
 * call. Of each open call the ids of its parent and of the outermost call are kept, and the open
 * calls of a thread are a list, the innermost one first.
 *
 * The parent is the innermost open call of the thread that is less deep. It is the one that is less
 * deep by one, unless the trace leaves that one out. (A thread with several stacks, as coroutines
 * have them, has calls of different stacks in its list; then the one that has begun last is taken.)
 *
 * Ids of calls count from 1 in each run of the tracer. They are mixed with random numbers of the
 * run by a function that is its own way back (murmur3's finalizer): ids of one run are different
 * because the numbers are, and those of different runs and hosts because the random numbers are.
 *
 * Two ends of one call (fork(2) returns in parent and child) are two spans: that of the child
 * process is within that of the parent.
 */
#include "sink/otlp/otlp_ids.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/clock.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* So many calls are looked at for the parent; so many frames deep are calls seldom. */
enum { PARENTS_MAX = 1000, KEYS = 3 };

struct open_call {
	uint64_t call;
	uint64_t root;	 /* id of the outermost call */
	uint64_t parent; /* id of the call around it; 0: none */
	int32_t pid, tid;
	uint32_t depth;
	bool is_listed;
	struct open_call *outer, *inner; /* the neighbours in the thread's list */
};

struct otlp_ids {
	uint64_t keys[KEYS]; /* of this run */
	struct map calls;    /* id of a call → struct open_call, owned */
	struct map threads;  /* tid → struct open_call, the innermost one */
};

/* An id must not be 0. */
static uint64_t not_0(uint64_t id)
{
	return id ? id : 1;
}

struct otlp_ids *otlp_ids_create(void)
{
	struct otlp_ids *ids = xcalloc(1, sizeof *ids);

	/* Without random numbers (an old kernel, early at boot) time and pid have to do. */
	if (getrandom(ids->keys, sizeof ids->keys, GRND_NONBLOCK) != sizeof ids->keys)
		for (unsigned i = 0; i < KEYS; i++)
			ids->keys[i] = hash_mix(clock_wall() + hash_mix((uint64_t)getpid() + i));
	return ids;
}

void otlp_ids_destroy(struct otlp_ids *ids)
{
	map_deinit_values(&ids->calls);
	map_deinit(&ids->threads);
	free(ids);
}

/* ------------------------------------------------------------------ open calls */

static struct open_call *innermost(const struct otlp_ids *ids, int32_t tid)
{
	return map_get(&ids->threads, (uint64_t)(uint32_t)tid);
}

static void set_innermost(struct otlp_ids *ids, int32_t tid, struct open_call *open)
{
	if (open)
		map_put(&ids->threads, (uint64_t)(uint32_t)tid, open);
	else
		map_remove(&ids->threads, (uint64_t)(uint32_t)tid);
}

/* Returns the call of the thread that one of this depth is within, or NULL. */
static const struct open_call *find_parent(const struct otlp_ids *ids, int32_t tid, uint32_t depth)
{
	const struct open_call *best = NULL, *open = innermost(ids, tid);

	for (unsigned i = 0; open && depth && i < PARENTS_MAX; i++, open = open->outer) {
		if (open->depth < depth && (!best || open->depth > best->depth))
			best = open;
		if (best && best->depth + 1 == depth)
			break;
	}
	return best;
}

static void unlist(struct otlp_ids *ids, struct open_call *open)
{
	if (!open->is_listed)
		return;
	if (open->outer)
		open->outer->inner = open->inner;
	if (open->inner)
		open->inner->outer = open->outer;
	else
		set_innermost(ids, open->tid, open->outer);
	open->is_listed = false;
	open->outer = open->inner = NULL;
}

void otlp_ids_begin(struct otlp_ids *ids, const struct record *entry)
{
	const struct open_call *parent = find_parent(ids, entry->tid, entry->depth);
	struct open_call *open = xcalloc(1, sizeof *open);

	otlp_ids_end(ids, entry->call); /* a damaged trace has an id twice */
	open->call = entry->call;
	open->root = parent ? parent->root : entry->call;
	open->parent = parent ? parent->call : 0;
	open->pid = entry->pid;
	open->tid = entry->tid;
	open->depth = entry->depth;
	map_put(&ids->calls, entry->call, open);
	/*
	 * Spans of .conf files are open while other calls come and go, and contain none (spans.c).
	 */
	if (record_is_span(entry))
		return;
	open->is_listed = true;
	open->outer = innermost(ids, entry->tid);
	if (open->outer)
		open->outer->inner = open;
	set_innermost(ids, entry->tid, open);
}

void otlp_ids_end(struct otlp_ids *ids, uint64_t call)
{
	struct open_call *open = map_remove(&ids->calls, call);

	if (open)
		unlist(ids, open);
	free(open);
}

void otlp_ids_forget_thread(struct otlp_ids *ids, int32_t tid)
{
	for (struct open_call *open; (open = innermost(ids, tid));)
		unlist(ids, open);
}

void otlp_ids_forget_process(struct otlp_ids *ids, int32_t pid)
{
	struct vec gone = VEC_OF(uint64_t);
	size_t cursor = 0;
	uint64_t call;
	void *value;

	while (map_next(&ids->calls, &cursor, &call, &value))
		if (((struct open_call *)value)->pid == pid)
			vec_push(&gone, &call);
	for (size_t i = 0; i < gone.count; i++)
		otlp_ids_end(ids, *(uint64_t *)vec_at(&gone, i));
	vec_deinit(&gone);
}

/* ------------------------------------------------------------------ ids */

static uint64_t span_of(const struct otlp_ids *ids, uint64_t call)
{
	return not_0(hash_mix(ids->keys[2] + call));
}

struct otlp_id otlp_ids_get(const struct otlp_ids *ids, const struct record *record)
{
	const struct open_call *open = map_get(&ids->calls, record->call);
	const uint64_t root = open ? open->root : record->call;
	struct otlp_id id = {
		.trace = {not_0(hash_mix(ids->keys[0] + root)),
			  not_0(hash_mix(ids->keys[1] ^ root))},
		.span = span_of(ids, record->call),
		.parent = open && open->parent ? span_of(ids, open->parent) : 0,
	};

	if (record->kind == RECORD_RETURN && record->number == RECORD_INHERITED) {
		/* If the parent's own end came first, only an outermost call's trace is known. */
		id.parent = open || !record->depth ? id.span : 0;
		id.span = not_0(hash_mix(id.span + (uint32_t)record->pid));
	}
	return id;
}
