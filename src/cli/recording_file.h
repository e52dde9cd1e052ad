/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --record, --compress, --rotate and --flight: see recording_file.c. */
#ifndef TRACER_CLI_RECORDING_FILE_H
#define TRACER_CLI_RECORDING_FILE_H

#include "cli/formats.h"
#include "cli/options.h"
#include "sink/recording/recording.h"

/* Where a trace is recorded. */
struct recording_file {
	struct recording_options options;
	char *command; /* owned; options.command */
};

/*
 * Checks the options, opens the file and adds it to the forms. Does nothing without --record.
 * Returns 0; -EINVAL for an argument that is wrong; or another -errno if the file cannot be opened.
 * All is reported. `file` must outlive the session; recording_file_close() frees what it owns.
 */
int recording_file_open(const struct options *options, struct recording_file *file,
			struct formats *formats);
void recording_file_close(struct recording_file *file);

#endif
