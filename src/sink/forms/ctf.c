/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common Trace Format 1.8.3 (https://diamon.org/ctf), for babeltrace2 and Trace Compass: a
 * directory with `metadata`, which declares what the events are, and `stream`, which has them.
 *
 * There is one stream for all threads: a file for each would be without limit, and the records come
 * in the order of their times. The thread is in the context of each event.
 *
 * A call is two events, its entry and its return, each at its own time. That is how readers of CTF
 * expect calls, and nothing has to be kept of a call that does not end. But if calls are chosen by
 * how they end (--if, --slower-than, --failed), whether an entry is shown is known when its time is
 * past, and times must not fall in a stream: such calls are one event, when they end, which has the
 * time of the entry as a value. This sink takes records; it gets calls as a whole in that case only
 * (whole_calls.c).
 *
 * What is lost is told by the record of RECORD_UNTRACED at the end of the trace, and becomes an
 * event.
 */
#include "sink/forms/ctf.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sink/forms/ctf_class.h"
#include "sink/forms/ctf_value.h"
#include "sink/render/signame.h"
#include "sink/stacks/stack_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct ctf_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct ctf_sink * */
	struct sink_target target;
	struct render_options render;
	struct ctf_metadata metadata;
	struct ctf_classes classes;
	struct ctf_stream stream;
	struct outbuf event; /* the contexts and fields of the event that is being made */
	int error;	     /* 0, or the -errno of the first write that failed */
};

static struct ctf_sink *ctf_of(struct sink *sink)
{
	return (struct ctf_sink *)(void *)sink;
}

static int keep_error(struct ctf_sink *ctf, int error)
{
	ctf->error = ctf->error ? ctf->error : error;
	return ctf->error;
}

/* ------------------------------------------------------------------ events */

/* Begins an event with the context that all have. */
static void begin(struct ctf_sink *ctf, const struct record *record)
{
	ctf->event.length = 0;
	ctf_put_32(&ctf->event, (uint32_t)record->pid);
	ctf_put_32(&ctf->event, (uint32_t)record->tid);
}

/* A class must be declared in the file before an event of it is there. */
static int end(struct ctf_sink *ctf, unsigned id, const struct record *record)
{
	if (!ctf->error && ctf_stream_is_full(&ctf->stream, ctf->event.length))
		keep_error(ctf, ctf_metadata_write(&ctf->metadata));
	if (!ctf->error)
		keep_error(ctf, ctf_stream_add(&ctf->stream, id, record->time, &ctf->event));
	return ctf->error;
}

/* ------------------------------------------------------------------ contexts of calls */

static void put_caller(struct ctf_sink *ctf, const struct record *record)
{
	_cleanup_free_ char *place = render_caller(ctf->target.code, record);

	ctf_value_put_text(&ctf->event, place);
}

static void put_line(struct ctf_sink *ctf, const struct record *record)
{
	const struct output_options *options = ctf->target.options;
	const struct stack_frame *frame = NULL;

	if (!options->script_line)
		return;
	if (ctf->target.stacks && record->stack)
		frame = stack_lines_choose(ctf->target.stacks, record->stack, options);
	ctf_value_put_text(&ctf->event,
			   frame && frame->file ? stack_lines_file(frame, options) : NULL);
	ctf_put_32(&ctf->event, frame ? frame->line : 0);
	ctf_value_put_text(&ctf->event, frame ? frame->function : NULL);
}

static bool is_of_system(const struct probe_info *probe)
{
	return probe && probe->kind == PROBE_SYSTEM;
}

/* Returns the error that a system call has failed with, or 0. */
static int64_t errno_of(const struct probe_info *probe, const struct record *returned)
{
	return is_of_system(probe) && returned->number > 0 ? returned->number : 0;
}

/* The members of a return that ctf_metadata.c declares for the class, or for a common one. */
static void put_return(struct ctf_sink *ctf, const struct probe_info *probe,
		       const struct record *returned, bool is_common)
{
	ctf_put_64(&ctf->event, returned->duration);
	if (is_common || is_of_system(probe))
		ctf_put_32(&ctf->event, (uint32_t)errno_of(probe, returned));
	if (is_common)
		outbuf_char(&ctf->event, returned->number == RECORD_SINCE_ATTACH);
}

static void put_context(struct ctf_sink *ctf, enum ctf_phase phase, const struct probe_info *probe,
			const struct record *entry, const struct record *returned, bool is_common)
{
	const struct record *record = entry ? entry : returned;

	begin(ctf, record);
	ctf_put_32(&ctf->event, record->depth);
	ctf_put_64(&ctf->event, record->call);
	if (phase != PHASE_RETURN)
		put_caller(ctf, record);
	if (phase != PHASE_ENTRY)
		put_return(ctf, probe, returned, is_common);
	if (phase == PHASE_CALL)
		ctf_put_64(&ctf->event, entry ? entry->time : returned->time - returned->duration);
	if (phase != PHASE_RETURN)
		put_line(ctf, record);
}

/* ------------------------------------------------------------------ calls */

/* Puts the fields of a function's own class. Returns false if they do not fit. */
static bool put_fields(struct ctf_sink *ctf, enum ctf_phase phase, const struct probe_info *probe,
		       const struct record *entry, const struct record *returned)
{
	const struct prototype *prototype = probe->prototype;
	const struct ctf_values values = ctf_values_of(prototype, phase);
	const unsigned at_entry = ctf_values_of(prototype, PHASE_ENTRY).last;
	bool fits = true;

	if (values.first < at_entry) {
		struct value_cursor cursor = value_cursor_start(entry);

		fits = ctf_values_put(&ctf->event, prototype, values.first, at_entry, &cursor,
				      &ctf->render);
	}
	if (fits && values.last > at_entry) {
		struct value_cursor cursor = value_cursor_start(returned);

		render_skip_result(prototype, &cursor);
		fits = ctf_values_put(&ctf->event, prototype, at_entry, values.last, &cursor,
				      &ctf->render);
	}
	if (!fits || !values.has_result)
		return fits;
	if (errno_of(probe, returned)) {
		ctf_values_put_failure(&ctf->event, prototype);
		return true;
	}
	struct value_cursor cursor = value_cursor_start(returned);

	return ctf_values_put_result(&ctf->event, prototype, &cursor, &ctf->render);
}

/* Puts the fields of a common class: everything as text. */
static void put_texts(struct ctf_sink *ctf, enum ctf_phase phase, const struct probe_info *probe,
		      const struct record *entry, const struct record *returned)
{
	const struct prototype *prototype = probe ? probe->prototype : prototype_unknown();
	const unsigned at_entry = render_entry_count(prototype);
	struct outbuf *out = &ctf->event;

	ctf_value_put_text(out, probe ? probe->name : NULL);
	ctf_value_put_text(out, probe ? probe->module : NULL);
	if (entry && phase != PHASE_RETURN) {
		struct value_cursor cursor = value_cursor_start(entry);

		render_arguments(out, prototype, 0, at_entry, &cursor, &ctf->render);
	}
	if (returned && returned->number != RECORD_SINCE_ATTACH) {
		struct value_cursor cursor = value_cursor_start(returned);

		render_skip_result(prototype, &cursor);
		render_arguments(out, prototype, at_entry, prototype->parameter_count, &cursor,
				 &ctf->render);
	}
	ctf_value_end_text(out);
	if (phase == PHASE_ENTRY)
		return;
	if (errno_of(probe, returned)) {
		outbuf_text(out, "-1");
	} else if (!probe || (is_of_system(probe) && returned->number == RECORD_NEVER)) {
		outbuf_char(out, '?');
	} else {
		struct value_cursor cursor = value_cursor_start(returned);

		render_result(out, prototype, &cursor, &ctf->render);
	}
	ctf_value_end_text(out);
}

/* Returns true if a call is not whole: its return has no values, or no entry that was seen. */
static bool is_odd(const struct record *entry, const struct record *returned, enum ctf_phase phase)
{
	return (returned && returned->number < 0) || (phase != PHASE_RETURN && !entry);
}

static int put_call(struct ctf_sink *ctf, enum ctf_phase phase, const struct record *entry,
		    const struct record *returned)
{
	static const enum ctf_common common[PHASES] = {
		[PHASE_ENTRY] = CTF_ENTRY, [PHASE_RETURN] = CTF_RETURN, [PHASE_CALL] = CTF_CALL};
	const struct record *last = returned ? returned : entry;
	const struct probe_info *probe = probe_table_get(ctf->target.probes, last->probe);
	unsigned id = 0;

	if (probe && !is_odd(entry, returned, phase))
		id = ctf_classes_get(&ctf->classes, &ctf->metadata, probe, phase);
	if (id) {
		put_context(ctf, phase, probe, entry, returned, false);
		if (put_fields(ctf, phase, probe, entry, returned))
			return end(ctf, id, last);
	}
	put_context(ctf, phase, probe, entry, returned, true);
	put_texts(ctf, phase, probe, entry, returned);
	return end(ctf, common[phase], last);
}

/* An event of a call that has no values. */
static int put_bare(struct ctf_sink *ctf, enum ctf_common id, const struct record *record)
{
	const struct probe_info *probe = probe_table_get(ctf->target.probes, record->probe);

	begin(ctf, record);
	ctf_put_32(&ctf->event, record->depth);
	ctf_put_64(&ctf->event, record->call);
	ctf_value_put_text(&ctf->event, probe ? probe->name : NULL);
	ctf_value_put_text(&ctf->event, probe ? probe->module : NULL);
	return end(ctf, id, record);
}

/* A call that was chosen; it is passed on when it ends. */
static int ctf_call(struct sink *sink, const struct record *entry, const struct record *ending)
{
	struct ctf_sink *ctf = ctf_of(sink);

	if (ending && ending->kind == RECORD_RETURN)
		return put_call(ctf, PHASE_CALL, entry, ending);
	const int error = entry ? put_call(ctf, PHASE_ENTRY, entry, NULL) : 0;

	return ending && !error ? put_bare(ctf, CTF_UNWOUND, ending) : error;
}

/* ------------------------------------------------------------------ other events */

static int put_number(struct ctf_sink *ctf, enum ctf_common id, const struct record *record)
{
	begin(ctf, record);
	ctf_put_64(&ctf->event, (uint64_t)record->number);
	if (id != CTF_EXIT) {
		signame_put(&ctf->event, record->number);
		ctf_value_end_text(&ctf->event);
	}
	return end(ctf, id, record);
}

static int put_untraced(struct ctf_sink *ctf, const struct record *record)
{
	struct value_cursor cursor = value_cursor_start(record);

	begin(ctf, record);
	for (unsigned i = 0; i < 2; i++) {
		const struct record_value *value = value_cursor_next(&cursor);
		_cleanup_free_ char *text =
			value ? xstrndup(record_value_bytes(value), value->length) : NULL;

		ctf_value_put_text(&ctf->event, text);
	}
	return end(ctf, CTF_UNTRACED, record);
}

static int ctf_record(struct sink *sink, const struct record *record)
{
	struct ctf_sink *ctf = ctf_of(sink);

	switch (record->kind) {
	case RECORD_CALL:
		return put_call(ctf, PHASE_ENTRY, record, NULL);
	case RECORD_RETURN:
		return put_call(ctf, PHASE_RETURN, NULL, record);
	case RECORD_UNWOUND:
		return put_bare(ctf, CTF_UNWOUND, record);
	case RECORD_RUNNING:
		return put_bare(ctf, CTF_RUNNING, record);
	case RECORD_SIGNAL:
		return put_number(ctf, CTF_SIGNAL, record);
	case RECORD_EXITED:
		return put_number(ctf, CTF_EXIT, record);
	case RECORD_KILLED:
		return put_number(ctf, CTF_KILLED, record);
	case RECORD_EXEC:
		begin(ctf, record);
		return end(ctf, CTF_EXEC, record);
	case RECORD_UNTRACED:
		return put_untraced(ctf, record);
	default:
		return ctf->error;
	}
}

/* ------------------------------------------------------------------ the sink */

static int ctf_flush(struct sink *sink)
{
	struct ctf_sink *ctf = ctf_of(sink);

	if (!ctf->error)
		keep_error(ctf, ctf_metadata_write(&ctf->metadata));
	return ctf->error ? ctf->error : keep_error(ctf, ctf_stream_flush(&ctf->stream));
}

static void ctf_forget(struct sink *sink, const struct probe_info *probe)
{
	ctf_classes_forget(&ctf_of(sink)->classes, probe);
}

static void ctf_destroy(struct sink *sink)
{
	struct ctf_sink *ctf = ctf_of(sink);

	ctf_stream_close(&ctf->stream);
	ctf_classes_deinit(&ctf->classes);
	ctf_metadata_deinit(&ctf->metadata);
	outbuf_deinit(&ctf->event);
	free(ctf);
}

static const struct sink_ops ctf_ops = {
	.record = ctf_record,
	.call = ctf_call,
	.flush = ctf_flush,
	.finish = ctf_flush,
	.forget = ctf_forget,
	.destroy = ctf_destroy,
};

/* Makes a UUID of random bits (RFC 4122, version 4). */
static void make_uuid(unsigned char uuid[CTF_UUID])
{
	if (getrandom(uuid, CTF_UUID, 0) != CTF_UUID)
		memset(uuid, 0x55, CTF_UUID);
	uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
}

struct sink *ctf_sink_create(const struct sink_target *target)
{
	const struct output_options *options = target->options;
	struct ctf_sink *ctf = xcalloc(1, sizeof *ctf);
	unsigned char uuid[CTF_UUID];

	make_uuid(uuid);
	ctf->sink.ops = &ctf_ops;
	ctf->target = *target;
	ctf->render = (struct render_options){.string_max = options->string_max,
					      .array_max = options->array_max,
					      .utf8 = true,
					      .code = target->code};
	outbuf_init(&ctf->event, -1);
	ctf_metadata_init(&ctf->metadata, target->fd, uuid, options->script_line);
	keep_error(ctf, ctf_stream_open(&ctf->stream, target->fd, uuid));
	/* So that a trace without events is one, too. */
	if (!ctf->error)
		keep_error(ctf, ctf_metadata_write(&ctf->metadata));
	return &ctf->sink;
}
