/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writers turn records into something for people or programs: an ops struct over immutable records.
 */
#ifndef TRACER_OUTPUT_WRITER_H
#define TRACER_OUTPUT_WRITER_H

#include "output/outbuf.h"
#include "probe/probe.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdio.h>

/* Columns of the table of -c, in the order of the words that -U takes. */
enum summary_column {
	COLUMN_SHARE,	 /* time: of the time of all calls */
	COLUMN_TOTAL,	 /* total: its time */
	COLUMN_CALLS,	 /* calls */
	COLUMN_SHORTEST, /* min */
	COLUMN_LONGEST,	 /* max */
	COLUMN_AVERAGE,	 /* avg */
	COLUMN_NAME,	 /* name */
	SUMMARY_COLUMNS	 /* how many there are */
};

/* How lines look: the options, as parsed. */
struct output_options {
	/* 0, or 1 -t (HH:MM:SS), 2 -tt (with µs), 3 -ttt (seconds.µs since the Epoch) */
	int time_stamp;
	bool relative_time;   /* -r */
	bool durations;	      /* -T */
	bool return_address;  /* -i */
	bool no_signals;      /* -b */
	bool no_ends;	      /* -qq: no lines about exits */
	bool color;	      /* --color, as decided for where lines go */
	bool demangle;	      /* -C: names come demangled already; here for the writers' headings */
	bool to_file;	      /* -o: "N " instead of "[pid N] " */
	bool all_pids;	      /* -f -o: each line begins so, also where there is one thread */
	unsigned indent;      /* -n: columns per nesting level */
	unsigned align;	      /* -a: column of the result; already defaulted */
	unsigned string_max;  /* -s */
	unsigned array_max;   /* -A */
	bool parameter_names; /* -N */
	bool utf8;	      /* characters that are not of ASCII are shown as they are */
	int sort;	      /* enum summary_sort */
	uint8_t columns[SUMMARY_COLUMNS]; /* -U: enum summary_column, each once */
	unsigned column_count;		  /* 0: the usual ones */
	struct outbuf_patience patience;  /* with who reads */
};

enum summary_sort { SORT_TIME, SORT_CALLS, SORT_NAME };

struct writer;
struct code_names;

struct writer_ops {
	/* Takes one record. 0, or -errno when the output failed (EPIPE, ENOSPC). */
	int (*record)(struct writer *writer, const struct record *record);
	/* Writes out what is pending, so that a reader sees the state as of now; 0 or -errno. */
	int (*flush)(struct writer *writer);
	/* The trace is over: finishes lines, prints tables, flushes; 0 or -errno. */
	int (*finish)(struct writer *writer);
	/*
	 * This probe is about to be removed from the table, and its id may be given to another:
	 * what is kept by id has to be kept otherwise. NULL: nothing is.
	 */
	void (*forget)(struct writer *writer, const struct probe_info *probe);
	void (*destroy)(struct writer *writer);
};

struct writer {
	const struct writer_ops *ops;
};

/*
 * ltrace-style lines to descriptor `fd` (kept open, not owned). `probes`, `options` and `code`
 * (output/render.h; NULL: pointers to functions are shown as addresses) must outlive the writer.
 */
struct writer *text_writer_create(int fd, const struct probe_table *probes,
				  const struct output_options *options,
				  const struct code_names *code);

/* Whether that table needs the time of each call, and not only their sum. */
bool summary_needs_each_call(const struct output_options *options);

/* The table of -c, printed at finish(). */
struct writer *summary_writer_create(int fd, const struct probe_table *probes,
				     const struct output_options *options);

/*
 * The same for one process, named above it: no table if it made no call. An empty line ends it.
 * `pid` 0: only the lines about what cannot be traced.
 */
struct writer *summary_part_create(int fd, const struct probe_table *probes,
				   const struct output_options *options, int32_t pid);

/* What is made for each process. Everything pointed to must outlive the writer. */
struct split_options {
	const struct probe_table *probes;
	const struct output_options *options;
	const struct code_names *code; /* as for text_writer_create() */
	bool tables;		       /* as the summary writer, else lines */
	const char *path;	       /* of files: PATH.PID; NULL: all write to `fd` */
	int fd;
};

/*
 * A writer for each process. A file that cannot be opened is said on stderr, and an error of
 * record().
 */
struct writer *split_writer_create(const struct split_options *how);

#endif
