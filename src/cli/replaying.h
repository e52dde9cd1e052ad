/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --replay: see replaying.c. */
#ifndef TRACER_CLI_REPLAYING_H
#define TRACER_CLI_REPLAYING_H

#include "cli/formats.h"
#include "cli/options.h"

/*
 * Shows the file of --replay. `main_sink`: what takes the place of lines; `output`: how, with
 * `color` as it was decided for the output. Returns 0, -EINVAL for a filter that is wrong, or
 * another -errno. All is reported.
 */
int replaying_run(const struct options *options, const struct output_options *output,
		  const struct sink_kind *main_sink, const struct formats *formats, int output_fd);

/*
 * Reads the frames of the calls in the file of --flame-diff, with the filters, conditions and
 * weights of `options` and `output`. Stores the tree, which the caller frees; NULL after an error.
 * Returns as replaying_run(), but 0 for a file that was cut off behind its first calls, which is
 * told.
 */
int replaying_frames(const struct options *options, const struct output_options *output,
		     struct frame_tree **tree);

#endif
