/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --replay=FILE, with the options that say what is shown, and how.
 *
 * No privileges are needed, and no process is touched. "-" is standard input.
 */
#include "cli/replaying.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "replay/replay.h"
#include "sink/stacks/frame_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SAFE_MAX = 256 };

static int open_trace(const char *path)
{
	char safe[SAFE_MAX];
	const int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
					      : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd >= 0)
		return fd;
	const int error = -errno;

	diag("%s: %s", diag_safe(safe, sizeof safe, path), strerror(-error));
	return error == -EINVAL ? -EIO : error;
}

static int run(const struct options *options, const struct output_options *output,
	       const struct sink_kind *main_sink, const struct formats *formats, int output_fd,
	       struct replay_result *result)
{
	_cleanup_close_ int fd = open_trace(options->replay);
	const bool split = options->follow_forks > 1;
	const struct replay_options replay = {
		.path = options->replay,
		.fd = fd,
		.wishes = {.calls = &options->call_filters,
			   .entries = &options->entry_filters,
			   .optional = &options->optional_filters,
			   .no_default = options->no_default,
			   .entries_only = options->entries_only,
			   .system_calls = options->system_calls},
		.depth_max = options->depth_max,
		.interval_ns = options->interval_ns,
		.interval_count = options->interval_count,
		.is_quiet = options->quiet != 0,
		/* Lines on the same terminal would get between. */
		.shows_progress = isatty(STDERR_FILENO) &&
				  (!isatty(output_fd) ||
				   (main_sink->only_at_end && !options->interval_ns)),
		.sink = main_sink,
		.table = formats->table,
		.more = &formats->more,
		.output_fd = output_fd,
		.output_path = split ? options->output_file : NULL,
		.per_process = options->per_process,
		.output = output,
	};
	const int error = fd < 0 ? fd : replay_run(&replay, result);

	return result->bad_filter ? -EINVAL : error == -EINVAL ? -EIO : error;
}

int replaying_run(const struct options *options, const struct output_options *output,
		  const struct sink_kind *main_sink, const struct formats *formats, int output_fd)
{
	struct replay_result result = {0};
	const int error = run(options, output, main_sink, formats, output_fd, &result);

	if (!error && options->strict && result.untraced) {
		diag("--strict: %zu thing%s could not be traced", result.untraced,
		     result.untraced == 1 ? "" : "s");
		return -ENOENT;
	}
	return error;
}

int replaying_frames(const struct options *options, const struct output_options *output,
		     struct frame_tree **tree)
{
	struct output_options taken = *output;
	struct options old = *options;
	const struct formats none = {.more = VEC_OF(struct session_output)};
	struct replay_result result = {0};

	*tree = NULL;
	taken.frames_taken = tree;
	old.replay = options->flame_diff;
	old.strict = false;
	old.interval_ns = 0;
	old.per_process = false;
	old.follow_forks = 0;
	const int error = run(&old, &taken, sink_find("frames"), &none, -1, &result);

	/* Shares are compared, and those of a part of a trace are as good; not those of nothing. */
	if (!error || (result.is_cut && frame_tree_size(*tree) > 1))
		return 0;
	frame_tree_destroy(*tree);
	*tree = NULL;
	return error;
}
