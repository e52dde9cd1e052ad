/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. One const table says which options there are; getopt_long, --help and the unit
 * test that man page, completion and NEWS name every option are all driven by it.
 *
 * Parsing checks what can be known from the text alone: numbers and their ranges, words, which
 * options belong together. Filters and .conf files are kept as text for those who know them.
 */
#ifndef TRACER_CLI_OPTIONS_H
#define TRACER_CLI_OPTIONS_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "output/writer.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The options as given. Text points into argv, which must outlive it; the vecs are owned and freed
 * by options_deinit().
 */
struct options {
	char **command;	 /* argv of the program to start, NULL-terminated; NULL: only attach */
	struct vec pids; /* of pid_t: -p, in order, without repetitions */
	unsigned follow_forks; /* -f, how often: -ff with -o is a file for each process */
	const char *user;      /* -u, or NULL */

	struct vec call_filters;      /* of const char *: -e, in order */
	struct vec callee_filters;    /* of const char *: -l, in order; both empty: the default */
	struct vec entry_filters;     /* of const char *: -x, in order */
	bool no_default;	      /* -L: without the default */
	bool entries_only;	      /* -g: nothing but entry_filters */
	bool system_calls;	      /* -S */
	unsigned depth_max;	      /* --depth: how deep calls are in others, or 0: any */
	struct vec configs;	      /* of const char *: -F, in order, each FILE|DIR[:…] */
	int prototypes;		      /* --prototypes: enum session_prototypes */
	const char *print_prototypes; /* of this file, and be done; or NULL */

	const char *output_file; /* -o, or NULL: standard error */
	bool summary;		 /* -c */
	bool per_process;	 /* --per-process */
	int engine;		 /* --engine: enum session_engine */
	int clock;		 /* --clock: enum session_clock */
	bool lossy;
	bool strict;	  /* --strict: what cannot be traced is an error */
	unsigned verbose; /* -v, how often */
	unsigned quiet;	  /* -q, how often */
	unsigned debug;	  /* -D: enum session_debug */
	int color;	  /* --color: enum color_choice */

	/* Filled in completely: -t -r -T -i -n -s -A -a -b -q -C -U --sort and their defaults. */
	struct output_options output;
};

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum { OPTIONS_DONE = 1 };

/*
 * Parses the command line into *options, whatever that held before. The order of argv is not
 * changed; options end at "--" or at the first word that is not one, as the command follows.
 *
 * 0: go on. OPTIONS_DONE: help or version was printed, exit with status 0. -EINVAL: a usage error,
 * said in one line on stderr; exit with status 2. Any other -errno: help or version could not be
 * written, said on stderr. options_deinit() is needed, and harmless, after each of them.
 */
int options_parse(struct options *options, int argc, char **argv);
void options_deinit(struct options *options);

/* What an option does with its argument; `field` is where in struct options. */
enum option_action {
	OPTION_FLAG,	/* sets a bool */
	OPTION_COUNT,	/* counts up an unsigned */
	OPTION_NUMBER,	/* sets an unsigned, from 0 to maximum */
	OPTION_TEXT,	/* sets a const char *, not empty */
	OPTION_LIST,	/* appends to a vec of const char *, not empty */
	OPTION_PIDS,	/* appends to a vec of pid_t, from a list with commas or blanks */
	OPTION_COLUMNS, /* appends to the columns of the table of -c */
	OPTION_DOMAINS, /* adds to an unsigned of enum session_debug, or shows what there is */
	OPTION_CHOICE,	/* sets an int: which of the words that the argument is described by */
	OPTION_HELP,
	OPTION_VERSION
};

/* A line of the table. */
struct option_spec {
	int code;	      /* its letter, or a number above 255 when it has only a long name */
	const char *name;     /* the long name, without the dashes */
	const char *argument; /* what stands for its argument in --help and the man page, or NULL */
	const char *help;     /* one line, at most 49 columns */
	const char *heading;  /* set on the first option of a group */
	size_t field;
	enum option_action action;
	unsigned maximum; /* of OPTION_NUMBER */
};

/* The table, in the order of --help. */
const struct option_spec *options_table(size_t *count);

/* Adds what --help prints. */
void options_help(struct strbuf *text);

#endif
