/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts calls by their frames, for folded stacks and for the flame graph: both are made of the
 * same tree, when the trace ends.
 *
 * The frames of a call are those of its stack that -w shows, outermost first, and then the traced
 * function. Without a stack they are the caller, as -i shows it, and the traced function; a call
 * within others that are traced has these around it instead. So the calls that run are known of
 * each thread, whether they pass the conditions of the trace or not: whole_calls.c tells of them
 * when they begin. Nothing need tell when they end: a call that begins at some depth says that all
 * calls as deep as that have ended.
 *
 * With --weight=time a call weighs what it took without the calls in it that were counted as well,
 * so that a time is counted once: a call that is not counted leaves the times of those in it to the
 * call around it. A call that does not return weighs nothing then.
 *
 * A call of a forked child within calls that its parent began has only its caller around it.
 */
#include "sink/stacks/frame_sink.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "sink/call_values.h"
#include "sink/stacks/flame.h"
#include "sink/stacks/folded.h"
#include "sink/stacks/frame_lines.h"
#include "sink/stacks/frame_tree.h"

#include <stdlib.h>

/* A call that runs. */
struct running {
	uint64_t call;
	uint32_t depth;
	uint64_t counted_ns; /* what calls in it took that were counted */
	bool is_counted;     /* the call around it knows what it took */
	struct frame_node *node;
};

/* The calls of a thread that run, outermost first. */
struct thread_calls {
	int32_t pid;
	struct vec calls; /* struct running */
};

enum frame_form { FORM_LINES, FORM_PICTURE, FORM_TREE };

struct frame_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct frame_sink * */
	struct sink_target target;
	struct frame_tree *tree;
	struct map threads; /* tid → struct thread_calls */
	struct map stacks;  /* number of a stack → struct frame_node: its innermost frame */
	struct strbuf name; /* of a frame */
	enum frame_form form;
};

static struct frame_sink *frames_of(struct sink *sink)
{
	return (struct frame_sink *)(void *)sink;
}

/* ------------------------------------------------------------------ the frames of a call */

static bool is_shown(const struct frame_sink *frames, const struct stack_frame *frame)
{
	const struct output_options *options = frames->target.options;

	if (frame->kind == STACK_NOTE || frame->is_place)
		return false;
	return frame->kind == STACK_SCRIPT ? options->where_script : options->where_native;
}

static struct frame_node *add_frame(struct frame_sink *frames, struct frame_node *node,
				    const struct stack_frame *frame)
{
	strbuf_clear(&frames->name);
	folded_add_name(&frames->name, frame, frames->target.options);
	return frame_tree_child(frames->tree, node, frames->name.text,
				frame->kind == STACK_SCRIPT ? FRAME_SCRIPT : FRAME_NATIVE);
}

/* As many frames as -w shows, which is those innermost; from the outermost of these in. */
static struct frame_node *find_stack(struct frame_sink *frames, uint32_t stack)
{
	struct frame_node *node = map_get(&frames->stacks, stack);
	const struct stack_frame **shown;
	size_t count, left = frames->target.options->where, chosen = 0;
	const struct stack_frame *all = stack_table_get(frames->target.stacks, stack, &count);

	if (node)
		return node;
	node = frame_tree_root(frames->tree);
	shown = xcalloc(count + 1, sizeof(void *));
	for (size_t i = 0; i < count && chosen < left; i++)
		if (is_shown(frames, &all[i]))
			shown[chosen++] = &all[i];
	while (chosen-- > 0)
		node = add_frame(frames, node, shown[chosen]);
	free(shown);
	map_put(&frames->stacks, stack, node);
	return node;
}

static struct frame_node *find_caller(struct frame_sink *frames, const struct record *record)
{
	static const struct expression caller = {.kind = EXPRESSION_NAME, .name = NAME_CALLER};
	struct frame_node *node = frame_tree_root(frames->tree);
	struct call_values values;

	call_values_begin(&values, &frames->target, record, NULL);
	const struct expression_value value = call_values_get(&values, &caller);

	if (value.type == EXPRESSION_TEXT)
		node = frame_tree_child(frames->tree, node, value.text, FRAME_NATIVE);
	call_values_end(&values);
	return node;
}

/* A system call has the name of a function of the C library, so that it needs its sign. */
static const char *name_of(const struct probe_info *probe)
{
	if (!probe)
		return "?";
	return probe->kind == PROBE_SYSTEM ? probe->display : probe->name;
}

/* Returns the node of a call; `around`: the innermost call around it; NULL: none is known. */
static struct frame_node *find_node(struct frame_sink *frames, const struct record *record,
				    const struct running *around)
{
	struct frame_node *node;

	if (record->stack && frames->target.stacks && frames->target.options->where)
		node = find_stack(frames, record->stack);
	else if (around)
		node = around->node;
	else
		node = find_caller(frames, record);
	return frame_tree_child(frames->tree, node,
				name_of(probe_table_get(frames->target.probes, record->probe)),
				FRAME_TRACED);
}

/* ------------------------------------------------------------------ the calls that run */

static struct thread_calls *find_thread(struct frame_sink *frames, const struct record *record)
{
	return map_get(&frames->threads, (uint64_t)record->tid);
}

static struct running *running_at(const struct thread_calls *thread, size_t index)
{
	return vec_at(&thread->calls, index);
}

/* Returns the innermost call around one of that depth, or NULL. */
static struct running *find_around(const struct thread_calls *thread, uint32_t depth)
{
	for (size_t i = thread ? thread->calls.count : 0; i-- > 0;)
		if (running_at(thread, i)->depth < depth)
			return running_at(thread, i);
	return NULL;
}

/* Forgets the calls from that depth on, which have ended. */
static void forget_ended(struct thread_calls *thread, uint32_t depth)
{
	while (thread->calls.count) {
		const struct running *last = running_at(thread, thread->calls.count - 1);

		if (last->depth < depth)
			return;
		if (!last->is_counted && thread->calls.count > 1)
			running_at(thread, thread->calls.count - 2)->counted_ns += last->counted_ns;
		vec_remove_fast(&thread->calls, thread->calls.count - 1);
	}
}

/* Of a recording, a call that is around others may be told of several times. */
static bool is_running(const struct thread_calls *thread, const struct record *entry)
{
	for (size_t i = thread->calls.count; i-- > 0;)
		if (running_at(thread, i)->depth <= entry->depth)
			return running_at(thread, i)->call == entry->call;
	return false;
}

static void frames_begin(struct sink *sink, const struct record *entry)
{
	struct frame_sink *frames = frames_of(sink);
	struct thread_calls *thread = find_thread(frames, entry);
	struct running call = {.call = entry->call, .depth = entry->depth};

	if (record_is_span(entry))
		return;
	if (!thread) {
		thread = xcalloc(1, sizeof *thread);
		thread->pid = entry->pid;
		vec_init(&thread->calls, sizeof(struct running));
		map_put(&frames->threads, (uint64_t)entry->tid, thread);
	}
	if (is_running(thread, entry))
		return;
	forget_ended(thread, entry->depth);
	call.node = find_node(frames, entry, find_around(thread, entry->depth));
	vec_push(&thread->calls, &call);
}

/* Returns the call, if it began in this thread. */
static struct running *find_running(const struct thread_calls *thread, uint64_t call)
{
	for (size_t i = thread ? thread->calls.count : 0; i-- > 0;)
		if (running_at(thread, i)->call == call)
			return running_at(thread, i);
	return NULL;
}

static void free_thread(struct thread_calls *thread)
{
	if (!thread)
		return;
	vec_deinit(&thread->calls);
	free(thread);
}

/* Forgets the calls of a process; 0: of all. */
static void forget_calls(struct frame_sink *frames, int32_t pid)
{
	struct vec tids = VEC_OF(uint64_t);
	size_t cursor = 0;
	uint64_t tid;
	void *value;

	while (map_next(&frames->threads, &cursor, &tid, &value))
		if (!pid || ((struct thread_calls *)value)->pid == pid)
			vec_push(&tids, &tid);
	for (size_t i = 0; i < tids.count; i++)
		free_thread(map_remove(&frames->threads, *(uint64_t *)vec_at(&tids, i)));
	vec_deinit(&tids);
}

/* ------------------------------------------------------------------ weights */

/* Above all integers, and so low that no sum becomes infinite. */
static const double NUMBER_MAX = 2e19;

static double number_of(const struct expression_value *value)
{
	switch (value->type) {
	case EXPRESSION_SIGNED:
		return (double)(int64_t)value->number;
	case EXPRESSION_UNSIGNED:
		return (double)value->number;
	case EXPRESSION_FLOAT:
		return value->real;
	default:
		return 0;
	}
}

static double value_of(struct frame_sink *frames, const struct record *entry,
		       const struct record *end)
{
	struct call_values values;

	call_values_begin(&values, &frames->target, entry, end);
	const struct expression_value value = call_values_get(&values,
							      frames->target.options->weight);
	const double number = number_of(&value);

	call_values_end(&values);
	if (!(number > -NUMBER_MAX))
		return number < 0 ? -NUMBER_MAX : 0; /* 0: it is no number */
	return number < NUMBER_MAX ? number : NUMBER_MAX;
}

/* What the call took itself, in ns. A span does not lie in the calls of its thread. */
static double own_time(const struct record *end, struct running *call, struct running *around)
{
	if (!end || end->kind != RECORD_RETURN)
		return 0;
	if (around && !record_is_span(end))
		around->counted_ns += end->duration;
	if (call)
		call->is_counted = true;
	const uint64_t counted = call ? call->counted_ns : 0;

	return end->duration > counted ? (double)(end->duration - counted) : 0;
}

static int frames_call(struct sink *sink, const struct record *entry, const struct record *end)
{
	struct frame_sink *frames = frames_of(sink);
	const struct record *record = entry ? entry : end;
	struct thread_calls *thread = find_thread(frames, record);
	struct running *call = find_running(thread, record->call);
	struct running *around = find_around(thread, record->depth);
	struct frame_node *node = call ? call->node : find_node(frames, record, around);
	double weight = 1;

	if (call && end)
		forget_ended(thread, record->depth + 1);
	if (frames->target.options->weighs == WEIGHS_TIME)
		weight = own_time(end, call, around);
	else if (frames->target.options->weighs == WEIGHS_VALUE)
		weight = value_of(frames, entry, end);
	frame_node_count(node, weight);
	return 0;
}

/* ------------------------------------------------------------------ the sink */

static int frames_record(struct sink *sink, const struct record *record)
{
	struct frame_sink *frames = frames_of(sink);

	if (record->kind == RECORD_EXITED || record->kind == RECORD_KILLED ||
	    record->kind == RECORD_EXEC)
		forget_calls(frames, record->pid);
	else if (record->kind == RECORD_THREAD_END)
		free_thread(map_remove(&frames->threads, (uint64_t)record->tid));
	return 0;
}

static int frames_flush(struct sink *sink)
{
	(void)sink;
	return 0;
}

static int frames_finish(struct sink *sink)
{
	struct frame_sink *frames = frames_of(sink);
	const struct output_options *options = frames->target.options;
	const uint64_t refused = frame_tree_refused(frames->tree);
	struct outbuf out;
	int error = 0;

	frame_tree_arrange(frames->tree);
	if (frames->form == FORM_TREE) {
		*options->frames_taken = frames->tree;
		frames->tree = NULL;
		return 0;
	}
	outbuf_init(&out, frames->target.fd);
	out.patience = &options->patience;
	if (frames->form == FORM_PICTURE)
		flame_put(&out, frames->tree, options);
	else
		error = frame_lines_put(&out, frames->tree, options);
	if (!error)
		error = outbuf_flush(&out);
	outbuf_deinit(&out);
	if (refused)
		diag("more than %zu different frames: calls of %llu others are counted where the "
		     "known frames end",
		     frame_tree_size(frames->tree) - 1, (unsigned long long)refused);
	return error;
}

static void frames_destroy(struct sink *sink)
{
	struct frame_sink *frames = frames_of(sink);

	forget_calls(frames, 0);
	map_deinit(&frames->threads);
	map_deinit(&frames->stacks);
	strbuf_deinit(&frames->name);
	frame_tree_destroy(frames->tree);
	free(frames);
}

static const struct sink_ops frames_ops = {
	.record = frames_record,
	.begin = frames_begin,
	.call = frames_call,
	.flush = frames_flush,
	.finish = frames_finish,
	.destroy = frames_destroy,
};

static struct sink *create(const struct sink_target *target, enum frame_form form)
{
	struct frame_sink *frames = xcalloc(1, sizeof *frames);

	frames->sink.ops = &frames_ops;
	frames->target = *target;
	frames->tree = frame_tree_create();
	frames->form = form;
	return &frames->sink;
}

struct sink *frame_sink_create_folded(const struct sink_target *target)
{
	return create(target, FORM_LINES);
}

struct sink *frame_sink_create_flame(const struct sink_target *target)
{
	return create(target, FORM_PICTURE);
}

struct sink *frame_sink_create_taken(const struct sink_target *target)
{
	return create(target, FORM_TREE);
}
