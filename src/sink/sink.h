/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sinks turn records into text or a table. A sink is a table of operations that get immutable
 * records. The kinds of sinks are rows of a table in sink.c.
 */
#ifndef TRACER_SINK_SINK_H
#define TRACER_SINK_SINK_H

#include "base/vec.h"
#include "probe/probe.h"
#include "record/record.h"
#include "sink/render/outbuf.h"

#include <stdbool.h>
#include <stdio.h>

/* Columns of the table of -c, in the order of the words that -U takes. */
enum summary_column {
	COLUMN_SHARE,	 /* time: percentage of the time of all calls */
	COLUMN_TOTAL,	 /* total: the function's time */
	COLUMN_CALLS,	 /* calls */
	COLUMN_SHORTEST, /* min */
	COLUMN_LONGEST,	 /* max */
	COLUMN_AVERAGE,	 /* avg */
	COLUMN_SUM,	 /* sum: of the values of --sum */
	COLUMN_NAME,	 /* name */
	COLUMN_P50,	 /* p50: the time that half of the calls did not exceed */
	COLUMN_P90,
	COLUMN_P95,
	COLUMN_P99,
	COLUMN_P999,	  /* p999: 99.9 % of them */
	COLUMN_HISTOGRAM, /* histogram: a character for each power of two of the time */
	COLUMN_FIRST,	  /* first: when the first call began */
	COLUMN_LAST,	  /* last */
	SUMMARY_COLUMNS	  /* number of columns */
};

struct frame_tree;
struct recording_options;

/* What a call adds to the number of its stack: --weight. */
enum weighs {
	WEIGHS_CALLS, /* 1 */
	WEIGHS_TIME,  /* its time without that of calls in it, in ns */
	WEIGHS_VALUE  /* the value of an expression */
};

/* The options for the format of the trace, as parsed. */
struct output_options {
	/* 0, or 1 -t (HH:MM:SS), 2 -tt (with µs), 3 -ttt (seconds.µs since the Epoch) */
	int time_stamp;
	bool relative_time;  /* -r */
	bool durations;	     /* -T */
	bool return_address; /* -i */
	bool no_signals;     /* -b */
	bool no_ends;	     /* -qq: no lines about exits */
	bool color;	     /* --color, as decided for where the trace goes */
	/* -C: names are demangled already; sinks need this for their headings */
	bool demangle;
	bool to_file; /* -o: "N " instead of "[pid N] " */
	/* -f -o: each line begins with the pid, even if there is one thread only */
	bool all_pids;
	unsigned indent;      /* -n: columns per nesting level */
	unsigned align;	      /* -a: column of the result; the default has been applied */
	unsigned string_max;  /* -s */
	unsigned array_max;   /* -A */
	bool parameter_names; /* -N */
	bool script_line;     /* -W */
	bool any_line;	      /* --any-line: -W shows frames of packages, too */
	bool paths;	      /* --paths: files of scripts with their directories */
	unsigned where;	      /* -w N: that many frames below each call; 0: none */
	bool where_script;    /* script frames are among them */
	bool where_native;    /* frames of compiled code are among them */
	bool inlines;	      /* --inlines: functions that were inlined are frames of their own */
	bool utf8;	      /* show characters that are not ASCII unchanged */
	bool over_time;	      /* --interval: each table has a line with the time above it */
	int sort;	      /* enum summary_sort */
	uint8_t columns[SUMMARY_COLUMNS]; /* -U: enum summary_column, each at most once */
	unsigned column_count;		  /* 0: the default columns */
	bool histogram;			  /* --histogram: below each row of the table of -c */
	struct outbuf_patience patience;  /* for a reader that is slow */
	const char *traced; /* --report: what is traced, in words: the command, or processes */
	const char *host;   /* --report: where; NULL: not known */

	/* Which calls are shown: those for which all of these hold. */
	const struct expression *condition; /* --if; NULL: none */
	/*
	 * A part of it may be decided where a call is caught: that such calls are not known of is
	 * not seen in the depths of others.
	 */
	bool decides_early;
	bool reports_misfits;		 /* unless -q: functions that it does not fit are named */
	uint64_t sample;		 /* --sample: one of so many calls; 0: all */
	uint64_t slower_than;		 /* --slower-than: ns; 0: none */
	bool only_failed;		 /* --failed */
	const struct template *template; /* --template; NULL: none */
	const struct vec *keys;	      /* --by: struct expression *; NULL: neither --by nor --sum */
	const char *keys_text;	      /* --by; or NULL */
	const char *condition_text;   /* --if; or NULL */
	const struct expression *sum; /* --sum; NULL: none */
	unsigned max_groups;	      /* --max-groups */
	enum weighs weighs;	      /* --weight */
	const char *weight_text;      /* WEIGHS_VALUE: the expression as it was given, and parsed */
	const struct expression *weight;
	/* --flame-diff: the frames of the other trace, arranged; NULL: none */
	struct frame_tree *frames_before;
	struct frame_tree **frames_taken; /* where the sink "frames" puts its own, arranged */
	bool takes_texts;		  /* expressions use texts, of which -s may show less */
	bool takes_statements; /* spans have those of databases' statements, of which it may, too */
	bool takes_lines;      /* expressions use the script line, which -W may not show */
	unsigned takes_stack;  /* expressions use so many frames, which -w may not show */
	const struct recording_options *recording; /* --record; NULL: none */
};

enum summary_sort { SORT_TIME, SORT_CALLS, SORT_NAME, SORT_SUM };

struct code_names;
struct expression;
struct otlp_sender;
struct sink;
struct stack_table;
struct table_form;
struct template;
struct top;

enum { SINK_HOLDS = 1 };

struct sink_ops {
	/* Takes one record. Returns 0, or -errno if the output failed (EPIPE, ENOSPC). */
	int (*record)(struct sink *sink, const struct record *record);
	/*
	 * Takes a call as a whole, instead of two records: `entry` is NULL if it was not seen,
	 * `end` if there is none. NULL: the sink takes the records. Returns as record().
	 */
	int (*call)(struct sink *sink, const struct record *entry, const struct record *end);
	/*
	 * A call begins. It comes as a whole later, or not at all if it is not among those that are
	 * asked for. Only for a sink that takes calls as a whole; NULL: it need not know.
	 */
	void (*begin)(struct sink *sink, const struct record *entry);
	/*
	 * The same of a call that call() will get, unless forgo() is told of it or its process
	 * ends. `entry` is of kind RECORD_CALL or RECORD_RUNNING.
	 */
	void (*expect)(struct sink *sink, const struct record *entry);
	/* With expect(): call() will not get the call with that id, which need not be known. */
	void (*forgo)(struct sink *sink, uint64_t call);
	/*
	 * Writes out what is buffered, so that a reader sees the current state. Returns 0, -errno,
	 * or SINK_HOLDS if it keeps something back and wants to be called again within a second.
	 */
	int (*flush)(struct sink *sink);
	/* Ends the trace: finishes lines, prints tables, flushes. Returns 0 or -errno. */
	int (*finish)(struct sink *sink);
	/*
	 * Writes a table of what was counted so far, with a line with the time above it.
	 * `is_anew`: counts begin anew behind it. Returns 0 or -errno. NULL: it counts nothing.
	 */
	int (*snapshot)(struct sink *sink, bool is_anew);
	/* --flight: writes what is kept in memory. Returns 0 or -errno. NULL: it keeps nothing. */
	int (*dump)(struct sink *sink);
	/*
	 * This probe is about to be removed from the table, and its id may be given to another one:
	 * the sink has to move what it keeps by that id. NULL: it keeps nothing by id.
	 */
	void (*forget)(struct sink *sink, const struct probe_info *probe);
	void (*destroy)(struct sink *sink);
};

struct sink {
	const struct sink_ops *ops;
};

/* What a sink is created for. All pointers must stay valid as long as the sink. */
struct sink_target {
	const struct probe_table *probes;
	const struct output_options *options;
	/* render.h; NULL: pointers to functions are shown as addresses */
	const struct code_names *code;
	const struct stack_table *stacks; /* of record.stack; NULL: no stacks are known */
	const struct table_form *table;	  /* of a sink that writes tables; NULL: text */
	uint64_t begun;			  /* when the trace began: ns since the Epoch */
	int fd; /* what the sink writes to (see `writes_directory`); the caller's */
	struct otlp_sender *sender; /* instead of `fd`: --otlp; or NULL; stays the caller's */
	bool is_beside;		    /* another sink gets all records, too, and tells of mistakes */
	struct top **top; /* where the sink of --top stores itself, for the view; or NULL */
	bool per_process; /* each process gets a sink of its own, as with `path` */
	const char *path; /* instead of `fd`, a file PATH.PID for each process; or NULL */
	/*
	 * Set by split.c for the sink of one process: it gets only the records of `pid`, or if that
	 * is 0, those of no process.
	 */
	bool is_part;
	int32_t pid;
	/*
	 * Several sinks write to `fd`, and share this: what stands there once, in front of all, is
	 * written already. NULL: the sink is alone.
	 */
	bool *has_begun;
};

/*
 * A row of the table of sinks. The members that are not about create() say what the sink does not
 * need, so that the session can save the work.
 */
struct sink_kind {
	const char *name;
	/* It shows arguments and results: prototypes are looked for, and values captured. */
	bool shows_values;
	/* It writes nothing before finish(), but for snapshot(). */
	bool only_at_end;
	/* It takes calls as a whole. */
	bool wants_calls;
	/* It writes several files: its `fd` is an empty directory. */
	bool writes_directory;
	/* Returns true if sums of calls are not enough; NULL: they never are. */
	bool (*needs_each_call)(const struct output_options *options);
	/* Returns true if sums have to come with the times in buckets; NULL: they never have. */
	bool (*needs_buckets)(const struct output_options *options);
	struct sink *(*create)(const struct sink_target *target);
};

/* A form of the trace besides the main one: --format=FORM:FILE, --otlp. */
struct session_output {
	const struct sink_kind *kind;
	const struct table_form *table; /* of a kind that writes tables; NULL: text */
	int fd;				/* a directory, if the kind writes one */
	struct otlp_sender *sender;	/* instead of `fd`; or NULL */
};

/* Returns the row of that name, or NULL. */
const struct sink_kind *sink_find(const char *name);

/* Returns the form of that name which a table of -c can have (json, csv), or NULL. */
const struct table_form *sink_find_table(const char *name);

/* Returns true if values are shown, or needed to choose among calls. */
bool sink_shows_values(const struct sink_kind *kind, const struct output_options *options);

/* Returns true if the sink needs a record of each call, and not only sums of calls. */
bool sink_needs_each_call(const struct sink_kind *kind, const struct output_options *options);
/* Returns true if sums of calls have to come with their times in buckets (struct record_bucket). */
bool sink_needs_buckets(const struct sink_kind *kind, const struct output_options *options);

/*
 * Creates a sink, or one that has a sink of that kind for each process. `kind` must outlive it. The
 * caller ends it with ops->finish() and frees it with ops->destroy().
 */
struct sink *sink_create(const struct sink_kind *kind, const struct sink_target *target);

#endif
