/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user asked for. */
#ifndef TRACER_TARGET_SESSION_OPTIONS_H
#define TRACER_TARGET_SESSION_OPTIONS_H

#include "probe/match.h"
#include "sink/sink.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * How calls are caught. TRAP: by breakpoints. AUTO and AGENT: inside the process, where possible.
 */
enum session_engine { ENGINE_AUTO, ENGINE_TRAP, ENGINE_AGENT };
/*
 * The clock that the agent's code reads. AUTO: the time-stamp counter if it is steady, else the
 * vDSO. TSC: the time-stamp counter. SYSTEM: the vDSO.
 */
enum session_clock { CLOCK_AUTO, CLOCK_TSC, CLOCK_SYSTEM };

/*
 * Where prototypes come from. CONF: .conf files. DWARF: .conf files, and debug information for
 * functions that these do not have. NONE: nowhere.
 */
enum session_prototypes { PROTOTYPES_CONF, PROTOTYPES_DWARF, PROTOTYPES_NONE };
/* What -D shows. The values are those of ltrace for similar domains, so 077 means all of them. */
enum session_debug {
	DEBUG_MODULES = 01,
	DEBUG_EVENTS = 010,
	DEBUG_PROCESSES = 020,
	DEBUG_FUNCTIONS = 040,
	DEBUG_ALL = 077
};

/* What to trace and how to show it. Everything pointed to must outlive the session. */
struct session_options {
	/*
	 * Called once when there is something to trace, before anything is written: what was in the
	 * files of the output is kept if there is nothing. Returns 0, or -errno after a message,
	 * which ends the session.
	 */
	int (*begins)(void *context);
	void *begins_context;
	char *const *command; /* argv, or NULL */
	const char *user;     /* user to run the command as, NULL: the tracer's user */
	const pid_t *pids;    /* processes to attach to */
	size_t pid_count;
	uint64_t duration_ns; /* after that time the trace ends; 0: it does not */
	unsigned profile_hz;  /* --profile: samples in a second, nothing is traced; 0: none */
	bool stacks;	      /* --stacks: nothing is traced */
	const char *core;     /* --core: the core dump whose stacks are shown; or NULL */
	bool follow_forks;
	const struct vec *call_filters;	    /* const char *: -e */
	const struct vec *callee_filters;   /* const char *: -l */
	const struct vec *entry_filters;    /* const char *: -x */
	const struct vec *optional_filters; /* const char *: those of entry_filters from recipes */
	const char *recipes;		    /* as they were asked for: " @a @b"; or NULL */
	bool no_default;		    /* -L */
	bool entries_only;		    /* -g */
	bool system_calls;		    /* -S */
	/* --depth: omit calls inside of this many others; 0: omit none */
	unsigned depth_max;
	const struct vec *configs; /* const char *: -F */
	uint64_t interval_ns;	   /* a table of -c each so many ns; 0: one at the end */
	uint64_t view_ns;	   /* --top: it is refreshed each so many ns; 0: no view */
	int view_fd;		   /* the terminal for it */
	unsigned interval_count;   /* how many such tables; 0: as many as there are */
	const char *data_dir;	   /* directory of the installed .conf files */
	int engine;		   /* enum session_engine */
	int clock;		   /* enum session_clock */
	bool strict;		   /* no place is given up for being slow */
	bool lossy;		   /* calls are dropped where processes would have to wait */
	int prototypes;		   /* enum session_prototypes */
	bool demangle;
	unsigned string_max;
	unsigned array_max;
	unsigned verbose;
	unsigned quiet;
	unsigned debug;			/* -D: enum session_debug, or-ed */
	const struct sink_kind *sink;	/* what the trace is turned into */
	const struct table_form *table; /* if it is a table; NULL: text */
	int output_fd;			/* where the trace is written */
	const struct vec *more;		/* struct session_output */
	const char *output_path;	/* instead, a file PATH.PID for each process; or NULL */
	bool per_process;		/* a table of -c for each process */
	const struct output_options *output;
};

#endif
