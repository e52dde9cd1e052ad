/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start-up: the options, the session, and the tracer's exit status. */
#include "base/cleanup.h"
#include "base/config_dirs.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/expressions.h"
#include "cli/formats.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/recording_file.h"
#include "cli/replaying.h"
#include "cli/traced.h"
#include "cli/usage_error.h"
#include "cli/view_terminal.h"
#include "dwarf/dwarf.h"
#include "session/print.h"
#include "session/session.h"
#include "sink/stacks/frame_tree.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <ucontext.h>
#include <unistd.h>

enum { STATUS_ERROR = 1, STATUS_USAGE = 2 };

/*
 * Ends by the signal that ended the command, so that a shell sees that signal. Leaves no core dump.
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

/* Colors are used on a terminal that has them, unless NO_COLOR is set (https://no-color.org). */
static bool wants_color(int choice, int fd)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return isatty(fd) && (!none || !*none) && terminal && strcmp(terminal, "dumb") != 0;
}

/*
 * Returns true if the locale of the environment (LC_ALL, LC_CTYPE, LANG) exists and uses UTF-8.
 * Nothing else is taken from it. The tracer itself stays in the C locale: setlocale(3) would also
 * change which bytes are letters, and make regcomp(3) and fnmatch(3), which are applied to all
 * symbols of all libraries, decode each name.
 */
static bool wants_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);

	if (!locale)
		return false;
	bool has_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	freelocale(locale);
	return has_utf8;
}

static const struct sink_kind *main_sink(const struct options *options,
					 const struct formats *formats)
{
	return formats->main ? formats->main : formats_usual(options);
}

/* A replay is what was asked for, not a remark beside a program's output. */
static int replay_with(const struct options *options, const struct output_options *parsed,
		       const struct formats *formats)
{
	struct output_options output = *parsed;
	struct outfile outfile = {.fd = -1, .done = -1};
	const bool split = options->follow_forks > 1 && options->output_file;

	if (!split && options->output_file && outfile_open(&outfile, options->output_file))
		return STATUS_ERROR;
	/* A file that is not there will be told below, and the outputs stay as they are. */
	const bool is_there = !strcmp(options->replay, "-") || access(options->replay, R_OK) == 0;
	const char *const inputs[] = {options->replay, options->flame_diff};

	if (is_there && outfile_check(&formats->files, &outfile, inputs)) {
		outfile_close(&outfile);
		return STATUS_USAGE;
	}
	if (is_there && outfile_empty(&formats->files, &outfile)) {
		outfile_close(&outfile);
		return STATUS_ERROR;
	}
	const int fd = options->output_file ? outfile.fd : STDOUT_FILENO;

	output.color = wants_color(options->color, fd);
	output.utf8 = wants_utf8();
	const int error = replaying_run(options, &output, main_sink(options, formats), formats, fd);

	outfile_close(&outfile);
	return error == -EINVAL ? STATUS_USAGE : error ? STATUS_ERROR : 0;
}

/* The tracer's own exit status after a session without errors. */
static int status_of(const struct options *options, const struct session_result *result)
{
	if (result->signal)
		return die_by_signal(result->signal);
	if (options->strict && result->untraced)
		diag("--strict: %zu thing%s could not be traced", result->untraced,
		     result->untraced == 1 ? "" : "s");
	/* The command's own failure says more than that of --strict. */
	return options->strict && result->untraced && !result->status ? STATUS_ERROR
								      : result->status;
}

struct outputs {
	const struct vec *files; /* struct outfile */
	const struct outfile *lines;
};

static int empty_outputs(void *context)
{
	const struct outputs *outputs = context;

	return outfile_empty(outputs->files, outputs->lines);
}

static int trace_with(const struct options *options, const struct output_options *parsed,
		      const struct formats *formats, int view_fd)
{
	struct output_options output = *parsed;
	struct outfile outfile = {.fd = -1, .done = -1};
	struct outputs outputs = {&formats->files, &outfile};
	_cleanup_free_ char *recipes = traced_recipes(options);
	bool split = options->follow_forks > 1; /* -ff: a file for each process */
	struct session_options session = {
		.command = options->command,
		.pids = options->pids.items,
		.pid_count = options->pids.count,
		.user = options->user,
		.stacks = options->stacks,
		.core = options->core,
		.profile_hz = options->profile_hz,
		.duration_ns = options->duration_ns,
		.interval_ns = options->interval_ns,
		.interval_count = options->interval_count,
		.view_ns = options->top_ns,
		.view_fd = view_fd,
		.follow_forks = options->follow_forks != 0,
		.call_filters = &options->call_filters,
		.callee_filters = &options->callee_filters,
		.entry_filters = &options->entry_filters,
		.optional_filters = &options->optional_filters,
		.recipes = recipes,
		.no_default = options->no_default,
		.entries_only = options->entries_only,
		.system_calls = options->system_calls || options->stacks,
		.depth_max = options->depth_max,
		.configs = &options->configs,
		.data_dir = config_dirs_installed(),
		.per_process = options->per_process,
		.engine = options->engine,
		.strict = options->strict,
		.clock = options->clock,
		.lossy = options->lossy,
		.prototypes = options->prototypes,
		.demangle = options->output.demangle,
		.string_max = expressions_string_max(options, &output),
		.array_max = options->output.array_max,
		.verbose = options->verbose,
		.quiet = options->quiet,
		.debug = options->debug,
		.sink = main_sink(options, formats),
		.table = formats->table,
		.more = &formats->more,
		.output_path = split ? options->output_file : NULL,
		.output = &output,
		.begins = empty_outputs,
		.begins_context = &outputs,
	};
	const char *const inputs[] = {options->flame_diff, NULL};
	struct session_result result;

	/* If session.output_path is set, each process has a file of its own. */
	if (!session.output_path && outfile_open(&outfile, options->output_file))
		return STATUS_ERROR;
	if (outfile_check(&formats->files, &outfile, inputs)) {
		outfile_close(&outfile);
		return STATUS_USAGE;
	}
	/* The stacks are what was asked for, not remarks beside a program's output. */
	session.output_fd = outfile.fd;
	if ((options->stacks || options->profile_hz) && !options->output_file)
		session.output_fd = STDOUT_FILENO;
	/* The table at the end is for whoever has looked at the view. */
	if (options->top_ns && !options->output_file)
		session.output_fd = view_fd;
	output.color = wants_color(options->color, options->top_ns ? view_fd : outfile.fd);
	output.utf8 = wants_utf8();
	int error = session_run(&session, &result);

	outfile_close(&outfile);
	if (error)
		return result.bad_filter ? STATUS_USAGE : STATUS_ERROR;
	return status_of(options, &result);
}

static int show_calls(const struct options *options, const struct output_options *output,
		      const struct formats *formats, int view_fd)
{
	if (options->replay)
		return replay_with(options, output, formats);
	return trace_with(options, output, formats, view_fd);
}

/* With the frames of another trace, if they are asked for. */
static int show_with(const struct options *options, const struct output_options *parsed,
		     const struct formats *formats, int view_fd)
{
	struct output_options changed = *parsed;
	const struct output_options *output = &changed;
	int error = 0;

	if (options->flame_diff)
		error = replaying_frames(options, parsed, &changed.frames_before);
	if (error)
		return error == -EINVAL ? STATUS_USAGE : STATUS_ERROR;
	const int status = show_calls(options, output, formats, view_fd);

	frame_tree_destroy(changed.frames_before);
	return status;
}

static int trace(const struct options *options)
{
	struct output_options output = options->output;
	struct expressions expressions = {0};
	struct recording_file recording = {.command = NULL};
	struct formats formats;
	int status = STATUS_ERROR, view_fd = -1;
	int error = formats_open(options, &formats);
	/* A replay knows it from the file. */
	_cleanup_free_ char *traced = traced_text(options);
	struct utsname system;

	output.traced = traced;
	output.host = uname(&system) == 0 ? system.nodename : NULL;
	if (!error)
		error = view_terminal_open(options, &view_fd);
	if (!error)
		error = recording_file_open(options, &recording, &formats);
	if (options->record)
		output.recording = &recording.options;
	if (error == -EINVAL)
		status = STATUS_USAGE;
	output.takes_statements = formats.has_spans;
	if (!error && expressions_parse(options, &expressions, &output))
		status = show_with(options, &output, &formats, view_fd);
	if (view_fd >= 0)
		close(view_fd);
	expressions_deinit(&expressions);
	recording_file_close(&recording);
	formats_close(&formats);
	return status;
}

/* ------------------------------------------------------------------ small stack limits */

enum { STACK_BYTES = 1 << 20 };

struct work {
	const struct options *options;
	int status;
};

/* makecontext(3) passes only integers. */
static void work_here(unsigned high, unsigned low)
{
	struct work *work = (struct work *)(uintptr_t)((uint64_t)high << 32 | low);

	work->status = trace(work->options);
}

/* Enlarges the default stack of threads, which was taken from the limit when the program began. */
static void widen_threads(void)
{
	pthread_attr_t attributes;

	if (pthread_getattr_default_np(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

/*
 * If the stack limit (ulimit -s) leaves too little room for what the tracer keeps on its stack, the
 * work is done on another stack. The limit is not raised, because the command inherits it.
 */
static int trace_with_room(const struct options *options)
{
	struct work work = {options, STATUS_ERROR};
	const uint64_t place = (uintptr_t)&work;
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_BYTES)
		return trace(options);
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	/* Two contexts take 2 KiB, which is much here. */
	_cleanup_free_ ucontext_t *contexts = xcalloc(2, sizeof *contexts);
	ucontext_t *here = &contexts[0], *there = &contexts[1];

	if (stack == MAP_FAILED || getcontext(there) != 0)
		return trace(options);
	widen_threads();
	there->uc_stack.ss_sp = stack;
	there->uc_stack.ss_size = STACK_BYTES;
	there->uc_link = here;
	makecontext(there, (void (*)(void))work_here, 2, (unsigned)(place >> 32), (unsigned)place);
	swapcontext(here, there);
	munmap(stack, STACK_BYTES);
	return work.status;
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
		status = print_prototypes(options.print_prototypes, DWARF_STEPS_FOR_ALL,
					  options.output.array_max)
				 ? STATUS_ERROR
				 : 0;
	else if (error == 0)
		status = trace_with_room(&options);
	options_deinit(&options);
	return status;
}
