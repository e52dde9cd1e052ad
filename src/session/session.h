/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One tracing session. It owns all state, connects tracees, ELF objects, probes, engines and sinks,
 * and decides what happens when tasks and modules come and go.
 */
#ifndef TRACER_SESSION_SESSION_H
#define TRACER_SESSION_SESSION_H

#include "target/session_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the session ended. */
struct session_result {
	int status;	 /* exit status for the tracer: that of the command, or 0 */
	int signal;	 /* the signal that killed the command, or 0 */
	bool bad_filter; /* a filter could not be parsed: a usage error */
	size_t untraced; /* number of things that could not be traced; all were listed */
	uint64_t stops;	 /* number of breakpoint stops */
};

/*
 * Runs a whole session. Returns 0, or -errno if a filter or .conf file is wrong, if the session
 * could not be started, or if it ended early because the output failed. *result is filled in either
 * way. Errors have been reported on stderr.
 */
int session_run(const struct session_options *options, struct session_result *result);

#endif
