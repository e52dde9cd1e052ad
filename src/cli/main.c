/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start-up: options, the output file, the session, and how the tracer itself ends. */
#include "base/diag.h"
#include "cli/options.h"
#include "session/print.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STATUS_ERROR = 1, STATUS_USAGE = 2 };

/*
 * Ends by the signal that ended the command, so that a shell sees the same; leaves no core of
 * its own.
 */
static int die_by_signal(int number)
{
	struct rlimit none = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return 128 + number;
}

/*
 * The descriptor that the trace goes to, out of the way of what the command may use; or -1,
 * said.
 */
static int open_output(const struct options *options)
{
	if (!options->output_file)
		return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int fd = open(options->output_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
		      0666);

	if (fd < 0)
		diag("%s: %s", options->output_file, strerror(errno));
	return fd;
}

static int trace(const struct options *options)
{
	const char *data_dir = getenv("TRACER_DATADIR");
	struct session_options session = {.command = options->command,
					  .pids = options->pids.items,
					  .pid_count = options->pids.count,
					  .user = options->user,
					  .follow_forks = options->follow_forks,
					  .call_filters = &options->call_filters,
					  .entry_filters = &options->entry_filters,
					  .entries_only = options->entries_only,
					  .system_calls = options->system_calls,
					  .configs = &options->configs,
					  .data_dir = data_dir ? data_dir : PKGDATADIR,
					  .summary = options->summary,
					  .engine = options->engine,
					  .lossy = options->lossy,
					  .prototypes = options->prototypes,
					  .demangle = options->output.demangle,
					  .string_max = options->output.string_max,
					  .array_max = options->output.array_max,
					  .verbose = options->verbose,
					  .output = &options->output};
	struct session_result result;

	session.output_fd = open_output(options);
	if (session.output_fd < 0)
		return STATUS_ERROR;
	int error = session_run(&session, &result);

	close(session.output_fd);
	if (error)
		return result.bad_filter ? STATUS_USAGE : STATUS_ERROR;
	if (result.signal)
		return die_by_signal(result.signal);
	if (options->strict && result.untraced)
		diag("--strict: %zu thing%s could not be traced", result.untraced,
		     result.untraced == 1 ? "" : "s");
	/* The command's own failure says more than ours. */
	return options->strict && result.untraced && !result.status ? STATUS_ERROR : result.status;
}

int main(int argc, char **argv)
{
	struct options options;
	int error = options_parse(&options, argc, argv);
	int status = 0;

	if (error == -EINVAL)
		status = STATUS_USAGE;
	else if (error < 0)
		status = STATUS_ERROR;
	else if (error == 0 && options.print_prototypes)
		status = print_prototypes(options.print_prototypes) ? STATUS_ERROR : 0;
	else if (error == 0)
		status = trace(&options);
	options_deinit(&options);
	return status;
}
