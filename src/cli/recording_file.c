/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of --record. It is opened before tracing begins, so that a wrong name is an error at
 * once. Nothing else is shown unless it is asked for, too: -o, -c, or a form without a file.
 */
#include "cli/recording_file.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/lists.h"
#include "cli/traced.h"
#include "cli/usage_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL_DEFAULT = 1, LEVEL_MAX = 19, KEEP_DEFAULT = 5, KEEP_MAX = 10000, FD_MIN = 3 };

/* The smallest file of --rotate, and memory of --flight, that make sense. */
#define SIZE_LEAST (UINT64_C(64) << 10)

static int set_level(struct recording_options *recording, const char *text)
{
	unsigned level = LEVEL_DEFAULT;

	if (text && !strcmp(text, "none"))
		level = 0;
	else if (text && !lists_parse_number(text, strlen(text), 1, LEVEL_MAX, &level))
		return usage_error("option --compress: it takes a level from 1 to %d, or none",
				   LEVEL_MAX);
	recording->level = (int)level;
	return 0;
}

static int set_rotation(struct recording_options *recording, const char *text)
{
	const size_t length = text ? strcspn(text, ",") : 0;
	char *size = text ? xstrndup(text, length) : NULL;
	bool is_right = true;

	recording->keep = KEEP_DEFAULT;
	if (text)
		is_right = lists_parse_size(size, &recording->rotate) &&
			   recording->rotate >= SIZE_LEAST &&
			   (!text[length] ||
			    lists_parse_number(text + length + 1, strlen(text + length + 1), 1,
					       KEEP_MAX, &recording->keep));
	free(size);
	return is_right
		       ? 0
		       : usage_error("option --rotate: it takes a size of at least 64k such as 10M "
				     "or 1G, and perhaps how many files are kept: 10M,5");
}

static int set_flight(struct recording_options *recording, const char *text)
{
	if (!text ||
	    (lists_parse_size(text, &recording->flight) && recording->flight >= SIZE_LEAST))
		return 0;
	return usage_error("option --flight: it takes a size of at least 64k such as 10M or 1G");
}

static int open_file(const struct options *options, struct outfile *file)
{
	if (strcmp(options->record, "-") != 0)
		return outfile_open(file, options->record);
	*file = (struct outfile){.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FD_MIN), .done = -1};
	if (file->fd >= 0)
		return 0;
	diag("standard output: %s", strerror(errno));
	return -errno;
}

int recording_file_open(const struct options *options, struct recording_file *file,
			struct formats *formats)
{
	struct recording_options *recording = &file->options;
	struct outfile opened;
	int error;

	*file = (struct recording_file){.command = NULL};
	if (!options->record)
		return 0;
	error = set_level(recording, options->compress);
	error = error ? error : set_rotation(recording, options->rotate);
	error = error ? error : set_flight(recording, options->flight);
	if (error)
		return error;
	recording->interval = options->interval_ns;
	const bool has_name = strcmp(options->record, "-") != 0 && options->record[0] != '|';

	if ((recording->rotate || recording->flight) && !has_name)
		return usage_error("--record: %s needs the name of a file",
				   recording->rotate ? "--rotate" : "--flight");
	error = open_file(options, &opened);
	if (error)
		return error == -EINVAL ? -EIO : error;
	vec_push(&formats->files, &opened);
	vec_push(&formats->more,
		 &(struct session_output){.kind = sink_find("record"), .fd = opened.fd});
	if (!formats->main && !options->output_file && !options->summary && !options->top_ns)
		formats->main = sink_find("nothing");
	file->command = traced_text(options);
	recording->path = has_name ? options->record : NULL;
	recording->command = file->command;
	return 0;
}

void recording_file_close(struct recording_file *file)
{
	free(file->command);
}
