/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink of --record: the stream of records, as a trace file. */
#ifndef TRACER_SINK_RECORDING_RECORDING_H
#define TRACER_SINK_RECORDING_RECORDING_H

#include "sink/sink.h"

/* How a trace is recorded. */
struct recording_options {
	const char *path;    /* the name of the file; NULL: standard output, which has none */
	int level;	     /* of zstd; 0: nothing is packed */
	uint64_t rotate;     /* a new file begins behind so many bytes; 0: none does */
	unsigned keep;	     /* how many files of --rotate are kept, at least 1 */
	uint64_t flight;     /* --flight: bytes that are kept in memory; 0: all is written */
	uint64_t interval;   /* --interval, in ns; 0: none */
	const char *command; /* what was asked for, for people */
};

struct sink *recording_sink_create(const struct sink_target *target);

#endif
