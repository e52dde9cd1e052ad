/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of a record to the sink: see emission.c. */
#ifndef TRACER_SESSION_EMISSION_H
#define TRACER_SESSION_EMISSION_H

#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

struct probe_info;
struct session;
struct sink;

struct emission {
	struct sink *sink;
	uint64_t begun; /* clock_now() when the sink was created */
	int error;	/* -errno of the sink; ends the session */
	bool dirty;	/* there are records since the last flush */
	bool holds;	/* the last flush has left something, for another one within a second */
};

/* Gives a record to the sink, unless --depth leaves it out. */
void emission_record(struct session *session, const struct record *record);
/* Makes the sink write out what was recorded so far. */
void emission_flush(struct session *session);
/* Tells the sink that the trace begins or ends (RECORD_TABLE). */
void emission_moment(struct session *session, enum record_moment moment);
/*
 * Tells the sink of a moment, and makes it write a table of what it has counted. With --interval,
 * counts begin anew behind it.
 */
void emission_table(struct session *session, enum record_moment moment);
/* Makes sinks that keep records in memory write them (--flight). */
void emission_dump(struct session *session);
/* A probe is about to be freed. */
void emission_forget(struct session *session, const struct probe_info *info);

#endif
