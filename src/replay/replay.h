/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --replay: shows a trace file as the live trace would have shown it. */
#ifndef TRACER_REPLAY_REPLAY_H
#define TRACER_REPLAY_REPLAY_H

#include "replay/replay_filter.h"
#include "sink/sink.h"

/* What to replay and how to show it. Everything pointed to must outlive the replay. */
struct replay_options {
	const char *path; /* for messages; NULL: nothing is said of what is wrong with the file */
	int fd;		  /* the trace file */
	struct replay_wishes wishes;
	unsigned depth_max;	 /* --depth; 0: all */
	uint64_t interval_ns;	 /* a table of -c each so many ns of the trace; 0: one at the end */
	unsigned interval_count; /* how many such tables; 0: as many as there are */
	bool is_quiet;		 /* what could not be traced is not told */
	bool shows_progress;	 /* on stderr, a terminal, if it takes long */
	const struct sink_kind *sink;
	const struct table_form *table; /* if it is a table; NULL: text */
	const struct vec *more;		/* struct session_output */
	int output_fd;
	const char *output_path; /* instead, a file PATH.PID for each process; or NULL */
	bool per_process;
	const struct output_options *output;
};

/* How it went. */
struct replay_result {
	bool bad_filter; /* a filter could not be parsed: a usage error */
	bool is_cut;	 /* nothing else is wrong with the file: all up to there is as it was */
	size_t untraced; /* things that could not be traced, or are not in the trace */
};

/*
 * Shows the file. Returns 0, or -errno after a message on stderr: it is not a trace file, it is
 * damaged or was cut off (-EBADMSG; all up to there has been shown), or the output failed.
 */
int replay_run(const struct replay_options *options, struct replay_result *result);

#endif
