/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of options, which drives the parser, --help, and the test of man page and completions.
 */
#ifndef TRACER_CLI_OPTION_TABLE_H
#define TRACER_CLI_OPTION_TABLE_H

#include <stddef.h>

enum {
	CODE_SORT = 256, /* options without a letter */
	CODE_ENGINE,
	CODE_CLOCK,
	CODE_LOSSY,
	CODE_PER_PROCESS,
	CODE_COLOR,
	CODE_STRICT,
	CODE_PROTOTYPES,
	CODE_PRINT_PROTOTYPES,
	CODE_DEPTH,
	CODE_ANY_LINE,
	CODE_INLINES,
	CODE_PATHS,
	CODE_APP_LINE,
	CODE_DURATION,
	CODE_STACKS,
	CODE_CORE,
	CODE_PROFILE,
	CODE_IF,
	CODE_SLOWER_THAN,
	CODE_FAILED,
	CODE_TEMPLATE,
	CODE_FORMAT,
	CODE_BY,
	CODE_SUM,
	CODE_MAX_GROUPS,
	CODE_RECIPES,
	CODE_INTERVAL,
	CODE_HISTOGRAM,
	CODE_OTLP,
	CODE_RECORD,
	CODE_COMPRESS,
	CODE_ROTATE,
	CODE_FLIGHT,
	CODE_REPLAY,
	CODE_WEIGHT,
	CODE_FLAME,
	CODE_FLAME_DIFF,
	CODE_REPORT,
	CODE_TOP,
	CODE_SAMPLE,

	OPTIONS_MAX = 96 /* there are no more rows */
};

/* What an option does with its argument. `field` is an offset in struct options. */
enum option_action {
	OPTION_FLAG,	/* sets a bool */
	OPTION_COUNT,	/* increments an unsigned */
	OPTION_NUMBER,	/* sets an unsigned, from minimum to maximum */
	OPTION_TEXT,	/* sets a const char *, not empty */
	OPTION_LIST,	/* appends to a vec of const char *, not empty */
	OPTION_PIDS,	/* appends to a vec of pid_t, from a list with commas or blanks */
	OPTION_COLUMNS, /* appends to the columns of the table of -c */
	OPTION_TIME,	/* sets a uint64_t of ns, from "500ms" and the like */
	OPTION_EVERY,	/* sets a time, as OPTION_TIME, and perhaps how many of them */
	OPTION_SAMPLE,	/* sets a uint64_t to the N of "1/N" */
	OPTION_STACKS,	/* sets a bool, and how many frames are shown */
	OPTION_PROFILE, /* sets an unsigned, which has a default, and how many frames are shown */
	OPTION_TOP,	/* sets a uint64_t of ns, which has a default, from seconds */
	OPTION_WHERE,	/* sets how many frames are shown, or of which kind */
	OPTION_DOMAINS, /* adds to an unsigned of enum session_debug, or lists the domains */
	OPTION_CHOICE,	/* sets an int: the index of the argument among the words in `argument` */
	OPTION_RECIPES, /* lists the recipes */
	OPTION_HELP,
	OPTION_VERSION
};

/* A row of the table. */
struct option_spec {
	int code;	  /* its letter, or a number above 255 when it has only a long name */
	const char *name; /* the long name, without the dashes */
	/*
	 * Placeholder of its argument in --help and the man page, or NULL; "[=N]" if the argument
	 * may be left out.
	 */
	const char *argument;
	const char *help;    /* one line, at most 49 columns */
	const char *heading; /* set on the first option of a group */
	size_t field;
	enum option_action action;
	unsigned minimum, maximum; /* for OPTION_NUMBER and OPTION_PROFILE */
};

/* The table, in the order of --help. */
const struct option_spec *options_table(size_t *count);

#endif
