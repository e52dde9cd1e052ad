/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. One const table lists all options; it drives getopt_long(), --help, and the
 * unit test that man page, completion and NEWS name every option.
 *
 * Parsing checks what the text alone can tell: numbers and their ranges, words, which options
 * belong together. Filters and .conf files are kept as text for the session.
 */
#ifndef TRACER_CLI_OPTIONS_H
#define TRACER_CLI_OPTIONS_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "sink/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The options as given. Strings point into argv, which must outlive this struct, and into recipes;
 * options_deinit() frees these and the vecs.
 */
struct options {
	char **command;	       /* argv of the command, NULL-terminated; NULL: only attach */
	struct vec pids;       /* of pid_t: -p, in order, without repetitions */
	unsigned follow_forks; /* number of -f; -ff with -o: a file for each process */
	const char *user;      /* -u, or NULL */
	bool stacks;	       /* --stacks */
	const char *core;      /* --core, or NULL */
	unsigned profile_hz;   /* --profile; 0: not asked for */
	uint64_t duration_ns;  /* --duration; 0: none */

	struct vec call_filters;      /* of const char *: -e, in order */
	struct vec callee_filters;    /* of const char *: -l, in order; both empty: the default */
	struct vec entry_filters;     /* of const char *: -x, in order */
	struct vec optional_filters;  /* of const char *: those of entry_filters from recipes */
	bool no_default;	      /* -L: without the default */
	bool entries_only;	      /* -g: nothing but entry_filters */
	bool system_calls;	      /* -S */
	unsigned depth_max;	      /* --depth: greatest depth of calls in others; 0: any */
	struct vec configs;	      /* of const char *: -F, in order, each FILE|DIR[:…] */
	struct vec recipes;	      /* of struct recipe *, owned; texts point into them */
	int prototypes;		      /* --prototypes: enum session_prototypes */
	const char *print_prototypes; /* print the prototypes of this file and exit; or NULL */

	const char *output_file; /* -o, or NULL: standard error */
	struct vec formats;	 /* of const char *: --format, in order */
	const char *otlp;	 /* --otlp, or NULL */
	const char *record;	 /* --record, or NULL */
	const char *compress;	 /* --compress, or NULL */
	const char *rotate;	 /* --rotate, or NULL */
	const char *flight;	 /* --flight, or NULL */
	const char *replay;	 /* --replay, or NULL */
	bool has_string_max;	 /* there was a -s */
	const char *flame;	 /* --flame, or NULL */
	const char *flame_diff;	 /* --flame-diff, or NULL */
	const char *weight;	 /* --weight, or NULL */
	const char *report;	 /* --report, or NULL */
	const char *condition;	 /* --if, or NULL */
	const char *template;	 /* --template, or NULL */
	const char *keys;	 /* --by, or NULL */
	const char *sum;	 /* --sum, or NULL */
	bool summary;		 /* -c */
	bool per_process;	 /* --per-process */
	uint64_t interval_ns;	 /* --interval; 0: none */
	unsigned interval_count; /* its N; 0: any number */
	uint64_t top_ns;	 /* --top; 0: not asked for */
	int engine;		 /* --engine: enum session_engine */
	int clock;		 /* --clock: enum session_clock */
	bool lossy;
	bool app_line;	  /* --app-line */
	bool strict;	  /* --strict: what cannot be traced is an error */
	unsigned verbose; /* number of -v */
	unsigned quiet;	  /* number of -q */
	unsigned debug;	  /* -D: enum session_debug */
	int color;	  /* --color: enum color_choice */

	/* All fields are set by -t -r -T -i -n -s -A -a -b -q -C -U --sort ... or are defaults. */
	struct output_options output;
};

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum { OPTIONS_DONE = 1 };

/*
 * Parses the command line into *options, whose old contents do not matter. The order of argv is not
 * changed; options end at "--" or at the first word that is not an option, where the command
 * begins. A word `@NAME` among them stands for the options of a recipe (recipe.h).
 *
 * Returns 0: go on. OPTIONS_DONE: help or the like was printed; exit with status 0. -EINVAL: a
 * usage error, reported in one line on stderr, and one more for each recipe that it is in; exit
 * with status 2. Any other -errno: help or the like could not be written, reported on stderr.
 * options_deinit() is needed after 0, and allowed after all others.
 */
int options_parse(struct options *options, int argc, char **argv);
void options_deinit(struct options *options);

/* Appends the text of --help. */
void options_help(struct strbuf *text);

#endif
