/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which span and which trace of OpenTelemetry a call is: see otlp_ids.c. */
#ifndef TRACER_SINK_OTLP_OTLP_IDS_H
#define TRACER_SINK_OTLP_OTLP_IDS_H

#include "record/record.h"

struct otlp_ids;

/* The ids of a span. None of them is 0, but `parent` is if there is none. */
struct otlp_id {
	uint64_t trace[2];
	uint64_t span, parent;
};

struct otlp_ids *otlp_ids_create(void);
void otlp_ids_destroy(struct otlp_ids *ids);

/* A call begins: what its thread calls until otlp_ids_end() is within it. */
void otlp_ids_begin(struct otlp_ids *ids, const struct record *entry);
/* The call with that id has ended, or will not be asked for. Nothing, if it is not known. */
void otlp_ids_end(struct otlp_ids *ids, uint64_t call);
/* The ids of the call that a record is of. It need not be known: it is outermost then. */
struct otlp_id otlp_ids_get(const struct otlp_ids *ids, const struct record *record);

/* A thread has ended: no call is within those that it has begun. */
void otlp_ids_forget_thread(struct otlp_ids *ids, int32_t tid);
/* A process has ended, or another program has begun in it: its calls will not be asked for. */
void otlp_ids_forget_process(struct otlp_ids *ids, int32_t pid);

#endif
