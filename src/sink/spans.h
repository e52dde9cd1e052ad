/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that belong together, shown as calls of their own name: see spans.c. */
#ifndef TRACER_SINK_SPANS_H
#define TRACER_SINK_SPANS_H

#include "proto/span.h"
#include "sink/sink.h"

/* A span that was asked for. Its expressions are parsed. */
struct active_span {
	const struct span *span;
	struct vec key;	     /* struct expression *; empty: the thread */
	struct vec with_key; /* empty: `key` */
	struct expression *begin, *ends[SPAN_ENDS], *with; /* conditions; NULL: there is none */
};

/* What was asked for. The vecs are the owner's. */
struct active_spans {
	struct vec spans;  /* struct active_span */
	struct vec hidden; /* const char *: functions that are caught for spans only */
};

/*
 * Returns a sink that turns calls into spans and passes these, and all that is not hidden, on to
 * `inner`, which it owns. `probes` gets a description of each span. Everything must stay valid as
 * long as the sink.
 */
struct sink *spans_create(struct sink *inner, const struct sink_target *target,
			  const struct active_spans *spans, struct probe_table *probes);

#endif
