/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --format=FORM[:FILE], --flame=FILE, --report=FILE, --otlp=URL: see formats.c. */
#ifndef TRACER_CLI_FORMATS_H
#define TRACER_CLI_FORMATS_H

#include "cli/options.h"
#include "cli/outfile.h"

/* The forms that were asked for. */
struct formats {
	const struct sink_kind *main;	/* in the place of lines, or of a table; NULL: none */
	const struct table_form *table; /* if it is a table; NULL: text */
	struct vec more;		/* struct session_output: with files of their own */
	struct vec files;		/* struct outfile: those files */
	struct otlp_sender *sender;	/* --otlp; or NULL */
	bool has_spans;			/* otlp is one of the forms */
};

/*
 * Opens the files of --format, --flame and --report, and makes the sender of --otlp. Returns 0;
 * -EINVAL for a form that does not exist, for two that would take the place of the lines, or for
 * what is no URL; or another -errno if a file cannot be opened, or nothing can be sent. All is
 * reported. formats_close() is needed in any case.
 */
int formats_open(const struct options *options, struct formats *formats);
/* Returns what is shown without --format: lines, or a table. */
const struct sink_kind *formats_usual(const struct options *options);
void formats_close(struct formats *formats);

/* Returns true if there are lines: neither a table nor another form takes their place. */
bool formats_have_lines(const struct options *options);
/* Returns true if one of them is made of the frames of calls: folded, or --flame. */
bool formats_have_frames(const struct options *options);

#endif
