/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call as a span of OpenTelemetry: see otlp_span.c. */
#ifndef TRACER_SINK_OTLP_OTLP_SPAN_H
#define TRACER_SINK_OTLP_OTLP_SPAN_H

#include "sink/call_values.h"
#include "sink/failures.h"
#include "sink/otlp/otlp_ids.h"

/* A call to be written. All pointers are borrowed. */
struct otlp_span {
	const struct sink_target *target;
	struct failures *failures;
	const struct record *entry, *end; /* one may be NULL */
	struct otlp_id id;
	uint64_t now; /* of a call without an end: when that was known, ns since the Epoch */
};

/* Writes a span as a JSON object. */
void otlp_span_put(struct outbuf *out, const struct otlp_span *span);

#endif
