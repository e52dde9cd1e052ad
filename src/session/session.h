/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One tracing session: the owner of all state. Wires inferior, images, probes, engine and output
 * together; decides what happens when tasks and modules come and go.
 */
#ifndef TRACER_SESSION_SESSION_H
#define TRACER_SESSION_SESSION_H

#include "output/writer.h"
#include "probe/match.h"

#include <stdbool.h>
#include <sys/types.h>

/* How calls are caught: by breakpoints; or inside the process, where that can be done. */
enum session_engine { ENGINE_AUTO, ENGINE_TRAP, ENGINE_AGENT };
/* What is read in processes: the time-stamp counter, where that is steady; that; the vDSO's. */
enum session_clock { CLOCK_AUTO, CLOCK_TSC, CLOCK_SYSTEM };

/*
 * Where prototypes come from: .conf files; these, and debug information where they say nothing;
 * nowhere.
 */
enum session_prototypes { PROTOTYPES_CONF, PROTOTYPES_DWARF, PROTOTYPES_NONE };
/* What -D shows. The numbers are those that ltrace has for the like, so that 077 is all of it. */
enum session_debug {
	DEBUG_MODULES = 01,
	DEBUG_EVENTS = 010,
	DEBUG_PROCESSES = 020,
	DEBUG_FUNCTIONS = 040,
	DEBUG_ALL = 077
};

/* What to trace and how to show it. Everything pointed to must outlive the session. */
struct session_options {
	char *const *command; /* argv, or NULL */
	const char *user;     /* whom the command is run as, NULL: the tracer's user */
	const pid_t *pids;    /* processes to attach to */
	size_t pid_count;
	bool follow_forks;
	const struct vec *call_filters;	  /* const char *: -e */
	const struct vec *callee_filters; /* const char *: -l */
	const struct vec *entry_filters;  /* const char *: -x */
	bool no_default;		  /* -L */
	bool entries_only;		  /* -g */
	bool system_calls;		  /* -S */
	unsigned depth_max;		  /* --depth: no calls within so many others; 0: all */
	const struct vec *configs;	  /* const char *: -F */
	const char *data_dir;		  /* where the installed .conf files are */
	bool summary;			  /* -c */
	int engine;			  /* enum session_engine */
	int clock;			  /* enum session_clock */
	bool strict;			  /* nothing is given up because it is slow */
	bool lossy;	/* calls are left out where processes would have to wait */
	int prototypes; /* enum session_prototypes */
	bool demangle;
	unsigned string_max;
	unsigned array_max;
	unsigned verbose;
	unsigned quiet;
	unsigned debug;		 /* -D: enum session_debug, or-ed */
	int output_fd;		 /* where the trace goes */
	const char *output_path; /* files PATH.PID instead, one for each process; or NULL */
	bool per_process;	 /* a table of -c for each */
	const struct output_options *output;
};

/* How it ended. */
struct session_result {
	int status;	 /* exit status for the tracer: the command's, or 0 */
	int signal;	 /* the command was killed by this signal, or 0 */
	bool bad_filter; /* a filter could not be parsed: an error of usage */
	size_t untraced; /* things that could not be traced, all of them listed */
	uint64_t stops;	 /* breakpoint stops served */
};

/*
 * Runs a whole session: 0, or -errno when a filter or .conf file is wrong, when it could not be
 * started, or when it ended early because the output failed. *result is filled in either way.
 * Whatever went wrong has been said on stderr.
 */
int session_run(const struct session_options *options, struct session_result *result);

#endif
