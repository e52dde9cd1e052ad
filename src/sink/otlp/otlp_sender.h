/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --otlp: sends requests by HTTP while the trace goes on: see otlp_sender.c. */
#ifndef TRACER_SINK_OTLP_OTLP_SENDER_H
#define TRACER_SINK_OTLP_OTLP_SENDER_H

#include <stddef.h>
#include <stdint.h>

struct otlp_sender;

/* What a request has around its ResourceSpans, which have commas in between. */
#define OTLP_REQUEST_BEGIN "{\"resourceSpans\":["
#define OTLP_REQUEST_END "]}"

/*
 * Makes a sender to a URL, whose path is /v1/traces if it has none; headers come from the
 * environment (OTEL_EXPORTER_OTLP_HEADERS). No thread is started yet. Returns 0; -EINVAL for a URL
 * that is none of http or https; -ENOTSUP if there is no libcurl. Errors have been
 * reported. otlp_sender_destroy() frees it.
 */
int otlp_sender_create(const char *url, struct otlp_sender **sender);

/*
 * Copies ResourceSpans with that many spans to the queue, and returns at once. What waits there is
 * one request when it is sent. If the queue is full, they are dropped, and counted.
 */
void otlp_sender_put(struct otlp_sender *sender, const char *resources, size_t length,
		     unsigned spans);

/*
 * Waits some seconds until all is sent, and reports how many spans were dropped. Returns how many,
 * if otlp_sender_wait() was called, else 0.
 */
uint64_t otlp_sender_finish(struct otlp_sender *sender);
/*
 * From now on otlp_sender_put() waits for the receiver, as nobody waits for the tracer: a replay.
 */
void otlp_sender_wait(struct otlp_sender *sender);

/* NULL is allowed. It is finished before, if it was not. */
void otlp_sender_destroy(struct otlp_sender *sender);

#endif
