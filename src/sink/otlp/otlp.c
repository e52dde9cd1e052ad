/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spans of OpenTelemetry in OTLP/JSON (opentelemetry-proto, docs/specification.md): each line is an
 * ExportTraceServiceRequest, which is what the otlpjsonfile receiver of the Collector reads, and
 * what is posted to an OTLP/HTTP receiver (otlp_sender.c).
 *
 * A call is a span when it has ended, or will not end. Signals, and what else a trace has lines
 * for, are left out.
 *
 * A request costs some hundred bytes for the description of the process, so several spans share
 * one. It is written when it has many spans or bytes, or when its first span is a second old. A
 * reader of lines has a limit (the Collector's is 1 MiB): a request is far below that, unless a
 * single span is larger, which only large values of -s and -A make possible.
 */
#include "sink/otlp/otlp.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "sink/otlp/otlp_resource.h"
#include "sink/otlp/otlp_sender.h"
#include "sink/otlp/otlp_span.h"
#include "sink/render/render.h"
#include "tracee/clock.h"

#include <errno.h>
#include <stdlib.h>

/* Set by make from configure.ac; missing for objects compiled by hand. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(not a release)"
#endif

enum { SPANS_MAX = 256, BYTES_MAX = 256 << 10, HELD_NS = 1000000000 };

/* The kernel's name of a process. */
struct process_name {
	char text[16];
};

/* The spans of one process in the request that is being made. */
struct part {
	int32_t pid;
	struct process_name name;
	struct outbuf spans; /* with commas in between */
};

struct otlp_sink {
	struct sink sink; /* must be first: struct sink * is cast to struct otlp_sink * */
	struct sink_target target;
	struct otlp_resource resource;
	struct failures failures;
	struct otlp_ids *ids;
	struct map names; /* pid → struct process_name, owned: known when a process has ended */
	struct vec parts; /* struct part */
	unsigned spans;	  /* in all parts */
	size_t bytes;
	uint64_t begun; /* clock_now() when the request got its first span */
	uint64_t now;	/* time of the latest record */
	struct outbuf out;
};

static struct otlp_sink *otlp_of(struct sink *sink)
{
	return (struct otlp_sink *)(void *)sink;
}

/* ------------------------------------------------------------------ requests */

static void put_part(struct otlp_sink *otlp, const struct part *part)
{
	struct outbuf *out = &otlp->out;

	outbuf_text(out, "{\"resource\":");
	otlp_resource_put(out, &otlp->resource, part->pid, part->name.text);
	outbuf_text(out, ",\"scopeSpans\":[{\"scope\":{\"name\":\"tracer\",\"version\":\"");
	outbuf_text(out, PACKAGE_VERSION "\"},\"spans\":[");
	outbuf_bytes(out, part->spans.text, part->spans.length);
	outbuf_text(out, "]}]}");
}

/* Forgets the spans that were written. */
static void clear(struct otlp_sink *otlp)
{
	for (size_t i = 0; i < otlp->parts.count; i++)
		outbuf_deinit(&((struct part *)vec_at(&otlp->parts, i))->spans);
	vec_clear(&otlp->parts);
	otlp->spans = 0;
	otlp->bytes = 0;
}

/* Writes, or sends, the request. */
static int put_request(struct otlp_sink *otlp)
{
	struct outbuf *out = &otlp->out;
	const unsigned spans = otlp->spans;

	if (!spans)
		return outbuf_flush(out);
	if (!otlp->target.sender)
		outbuf_text(out, OTLP_REQUEST_BEGIN);
	for (size_t i = 0; i < otlp->parts.count; i++) {
		outbuf_text(out, i ? "," : "");
		put_part(otlp, vec_at(&otlp->parts, i));
	}
	clear(otlp);
	if (!otlp->target.sender) {
		outbuf_text(out, OTLP_REQUEST_END);
		outbuf_newline(out);
		return outbuf_flush(out);
	}
	otlp_sender_put(otlp->target.sender, out->text, out->length, spans);
	out->length = 0;
	return 0;
}

/* ------------------------------------------------------------------ calls */

/* Learns the name of a process while it is there. */
static const struct process_name *name_of(struct otlp_sink *otlp, int32_t pid)
{
	const struct code_names *code = otlp->target.code;
	struct process_name *name = map_get(&otlp->names, (uint64_t)(uint32_t)pid);

	if (name)
		return name;
	name = xcalloc(1, sizeof *name);
	if (code && code->thread)
		code->thread(code->context, pid, name->text);
	map_put(&otlp->names, (uint64_t)(uint32_t)pid, name);
	return name;
}

static void forget_name(struct otlp_sink *otlp, int32_t pid)
{
	free(map_remove(&otlp->names, (uint64_t)(uint32_t)pid));
}

static struct part *part_of(struct otlp_sink *otlp, int32_t pid)
{
	for (size_t i = otlp->parts.count; i-- > 0;) {
		struct part *part = vec_at(&otlp->parts, i);

		if (part->pid == pid)
			return part;
	}
	struct part *part = vec_push(&otlp->parts, &(struct part){.pid = pid});

	part->name = *name_of(otlp, pid);
	outbuf_init(&part->spans, -1);
	return part;
}

static void notice_time(struct otlp_sink *otlp, const struct record *record)
{
	if (record && record->time > otlp->now)
		otlp->now = record->time;
}

static int otlp_call(struct sink *sink, const struct record *entry, const struct record *end)
{
	struct otlp_sink *otlp = otlp_of(sink);
	const struct record *record = entry ? entry : end;
	struct part *part = part_of(otlp, record->pid);
	const size_t before = part->spans.length;

	notice_time(otlp, end);
	const struct otlp_span span = {.target = &otlp->target,
				       .failures = &otlp->failures,
				       .entry = entry,
				       .end = end,
				       .id = otlp_ids_get(otlp->ids, end ? end : entry),
				       .now = otlp->now};

	if (before)
		outbuf_char(&part->spans, ',');
	otlp_span_put(&part->spans, &span);
	/* It may return in another process, too (fork); that was not its own end. */
	if (!end || end->kind != RECORD_RETURN || end->number != RECORD_INHERITED)
		otlp_ids_end(otlp->ids, record->call);
	otlp->bytes += part->spans.length - before;
	if (!otlp->spans++)
		otlp->begun = clock_now();
	return otlp->spans >= SPANS_MAX || otlp->bytes >= BYTES_MAX ? put_request(otlp) : 0;
}

static void otlp_expect(struct sink *sink, const struct record *entry)
{
	struct otlp_sink *otlp = otlp_of(sink);

	notice_time(otlp, entry);
	name_of(otlp, entry->pid);
	otlp_ids_begin(otlp->ids, entry);
}

static void otlp_forgo(struct sink *sink, uint64_t call)
{
	otlp_ids_end(otlp_of(sink)->ids, call);
}

static int otlp_record(struct sink *sink, const struct record *record)
{
	struct otlp_sink *otlp = otlp_of(sink);
	int error = 0;

	notice_time(otlp, record);
	switch (record->kind) {
	case RECORD_THREAD_END:
		otlp_ids_forget_thread(otlp->ids, record->tid);
		break;
	case RECORD_EXEC:
		/* The spans so far are those of a process of another name. */
		error = put_request(otlp);
		otlp_ids_forget_process(otlp->ids, record->pid);
		forget_name(otlp, record->pid);
		break;
	case RECORD_EXITED:
	case RECORD_KILLED:
		otlp_ids_forget_process(otlp->ids, record->pid);
		forget_name(otlp, record->pid);
		break;
	default:
		break;
	}
	return error;
}

/* ------------------------------------------------------------------ the sink */

static int otlp_flush(struct sink *sink)
{
	struct otlp_sink *otlp = otlp_of(sink);

	if (otlp->spans && clock_now() - otlp->begun < HELD_NS)
		return SINK_HOLDS;
	return put_request(otlp);
}

static int otlp_finish(struct sink *sink)
{
	struct otlp_sink *otlp = otlp_of(sink);
	const int error = put_request(otlp);
	const bool is_lost = otlp->target.sender && otlp_sender_finish(otlp->target.sender);

	return error ? error : is_lost ? -EIO : 0;
}

static void otlp_destroy(struct sink *sink)
{
	struct otlp_sink *otlp = otlp_of(sink);

	clear(otlp);
	vec_deinit(&otlp->parts);
	map_deinit_values(&otlp->names);
	otlp_ids_destroy(otlp->ids);
	failures_deinit(&otlp->failures);
	otlp_resource_deinit(&otlp->resource);
	outbuf_deinit(&otlp->out);
	free(otlp);
}

static const struct sink_ops otlp_ops = {
	.record = otlp_record,
	.call = otlp_call,
	.expect = otlp_expect,
	.forgo = otlp_forgo,
	.flush = otlp_flush,
	.finish = otlp_finish,
	.destroy = otlp_destroy,
};

struct sink *otlp_sink_create(const struct sink_target *target)
{
	struct otlp_sink *otlp = xcalloc(1, sizeof *otlp);

	otlp->sink.ops = &otlp_ops;
	otlp->target = *target;
	otlp->ids = otlp_ids_create();
	otlp_resource_init(&otlp->resource);
	vec_init(&otlp->parts, sizeof(struct part));
	outbuf_init(&otlp->out, target->sender ? -1 : target->fd);
	otlp->out.patience = &target->options->patience;
	return &otlp->sink;
}
