/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the time line and the flame graph of the report, and the events that are not calls.
 *
 * The begin of a slice is written as the distance from the one before it, in the order of begins:
 * most of these numbers are short.
 */
#include "sink/report/report_put_time.h"

#include "sink/render/signame.h"
#include "sink/report/report_json.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ time line */

/* By begin; of two with the same one, the outer one first. */
static int compare_begins(const void *left, const void *right)
{
	const struct report_slice *one = left, *other = right;

	if (one->begun != other->begun)
		return one->begun < other->begun ? -1 : 1;
	return one->depth < other->depth ? -1 : one->depth > other->depth;
}

static int64_t get_length(const void *item, const void *context)
{
	const struct report_slice *slice = item;

	(void)context;
	if (slice->ended == UINT64_MAX)
		return -1;
	return slice->ended > slice->begun ? report_json_clamp(slice->ended - slice->begun) : 0;
}

static int64_t get_function(const void *item, const void *context)
{
	(void)context;
	return ((const struct report_slice *)item)->function;
}

static int64_t get_depth(const void *item, const void *context)
{
	const uint32_t depth = ((const struct report_slice *)item)->depth;

	(void)context;
	return depth == REPORT_SPAN ? -1 : (int64_t)depth;
}

static void put_begins(struct outbuf *out, const struct vec *slices, uint64_t base)
{
	uint64_t before = base;

	report_json_open(out, "begun", '[');
	for (size_t i = 0; i < slices->count; i++) {
		const struct report_slice *slice = vec_at(slices, i);

		report_json_push(out, report_json_clamp(slice->begun - before));
		before = slice->begun;
	}
	report_json_close(out, ']');
	outbuf_newline(out);
}

static void put_thread(struct outbuf *out, const struct report_thread *thread, uint64_t base)
{
	const struct vec *slices = &thread->slices;

	if (slices->count)
		qsort(slices->items, slices->count, slices->item_size, compare_begins);
	report_json_open(out, NULL, '{');
	report_json_number(out, "pid", (uint64_t)thread->pid);
	report_json_number(out, "tid", (uint64_t)thread->tid);
	report_json_member(out, "name", thread->name);
	report_json_number(out, "calls", thread->calls);
	report_json_number(out, "time", thread->time);
	report_json_number(out, "leftOut", thread->left_out);
	report_json_number(out, "shortest", thread->shortest);
	put_begins(out, slices, base);
	report_json_column(out, "length", slices, get_length, NULL);
	report_json_column(out, "function", slices, get_function, NULL);
	report_json_column(out, "depth", slices, get_depth, NULL);
	report_json_close(out, '}');
	report_json_flush(out);
}

void report_put_threads(struct outbuf *out, const struct report_sink *report)
{
	const struct vec *list = &report->threads.list;

	report_json_open(out, "threads", '[');
	for (size_t i = 0; i < list->count; i++)
		put_thread(out, *(struct report_thread **)vec_at(list, i), report->first);
	report_json_close(out, ']');
	report_json_number(out, "otherThreadsCalls", report->threads.others.calls);
}

/* ------------------------------------------------------------------ flame graph */

/* A node of the page. */
struct place {
	uint32_t node, parent; /* `parent`: index in the page */
};

static int64_t get_parent(const void *item, const void *context)
{
	(void)context;
	return ((const struct place *)item)->parent;
}

static int64_t get_name(const void *item, const void *context)
{
	return report_flame_node(context, ((const struct place *)item)->node)->name;
}

static int64_t get_calls(const void *item, const void *context)
{
	return report_json_clamp(
		report_flame_node(context, ((const struct place *)item)->node)->calls);
}

static int64_t get_time(const void *item, const void *context)
{
	return report_json_clamp(
		report_flame_node(context, ((const struct place *)item)->node)->time);
}

void report_put_flame(struct outbuf *out, const struct report_sink *report)
{
	const struct report_flame *flame = &report->flame;
	struct vec places = VEC_OF(struct place);

	/* Breadth first: the list is its own queue. The root has no name. */
	vec_push(&places, NULL);
	for (size_t i = 0; i < places.count; i++) {
		const uint32_t node = ((struct place *)vec_at(&places, i))->node;

		for (uint32_t child = report_flame_node(flame, node)->child; child;
		     child = report_flame_node(flame, child)->next)
			vec_push(&places, &(struct place){child, (uint32_t)i});
	}
	report_json_open(out, "flame", '{');
	outbuf_text(out, flame->leaves.count ? "\"ofStacks\":true" : "\"ofStacks\":false");
	report_json_number(out, "leftOut", flame->left_out);
	report_json_open(out, "names", '[');
	for (size_t i = 0; i < flame->names.count; i++) {
		report_json_push_text(out, flame->names.entries[i].name);
		report_json_flush(out);
	}
	report_json_close(out, ']');
	report_json_column(out, "parent", &places, get_parent, NULL);
	report_json_column(out, "name", &places, get_name, flame);
	report_json_column(out, "calls", &places, get_calls, flame);
	report_json_column(out, "time", &places, get_time, flame);
	report_json_close(out, '}');
	vec_deinit(&places);
}

/* ------------------------------------------------------------------ other events */

static void put_event(struct outbuf *out, const struct report_event *event, uint64_t base)
{
	struct outbuf text;

	outbuf_init(&text, -1);
	if (event->kind == RECORD_EXEC) {
		outbuf_text(&text, "exec");
	} else if (event->kind == RECORD_EXITED) {
		outbuf_text(&text, "exited with ");
		outbuf_signed(&text, event->number);
	} else {
		outbuf_text(&text, event->kind == RECORD_KILLED ? "killed by " : "");
		signame_put(&text, event->number);
	}
	outbuf_char(&text, '\0');
	report_json_open(out, NULL, '{');
	report_json_number(out, "time", event->time - base);
	report_json_number(out, "pid", (uint64_t)event->pid);
	report_json_number(out, "tid", (uint64_t)event->tid);
	report_json_member(out, "what", text.text);
	report_json_close(out, '}');
	outbuf_deinit(&text);
}

void report_put_events(struct outbuf *out, const struct report_sink *report)
{
	report_json_open(out, "events", '[');
	for (size_t i = 0; i < report->events.count; i++)
		put_event(out, vec_at(&report->events, i), report->first);
	report_json_close(out, ']');
	report_json_number(out, "eventsLeftOut", report->events_left_out);
	report_json_open(out, "untraced", '[');
	for (size_t i = 0; i < report->untraced.count; i++) {
		const struct report_untraced *untraced = vec_at(&report->untraced, i);

		report_json_open(out, NULL, '[');
		report_json_push_text(out, untraced->what);
		report_json_push_text(out, untraced->why);
		report_json_close(out, ']');
	}
	report_json_close(out, ']');
	report_json_number(out, "untracedLeftOut", report->untraced_left_out);
	report_json_flush(out);
}
