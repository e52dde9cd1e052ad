/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which options may be given together. An option that could not be obeyed is an error: whoever gave
 * it would wait for something that never comes.
 */
#include "cli/option_checks.h"

#include "cli/usage_error.h"
#include "session/session.h"

#include <string.h>

/* The options about script lines and stacks. */
static int check_stacks(const struct options *options)
{
	const struct output_options *output = &options->output;

	if (output->any_line && !output->script_line)
		return usage_error("--any-line is for the lines of -W, and there is no -W");
	if (options->app_line && !output->script_line)
		return usage_error("--app-line is for the lines of -W, and there is no -W");
	if (output->paths && !output->script_line && !output->where)
		return usage_error("--paths is for the lines of -W and -w, and there is none");
	if (output->inlines && (!output->where || !output->where_native))
		return usage_error("--inlines is for frames of compiled code (-w), and there are "
				   "none");
	if (!output->where)
		return 0;
	if (options->engine == ENGINE_AGENT)
		return usage_error("-w needs breakpoints, so --engine=agent cannot be obeyed");
	if (options->summary)
		return usage_error("-w is for lines, and -c shows none");
	return 0;
}

/* --stacks and --profile trace nothing: whatever asks for a trace cannot be obeyed. */
static int check_snapshot(const struct options *options, const char *option)
{
	if (options->condition || options->template || options->output.slower_than ||
	    options->output.only_failed)
		return usage_error("%s traces nothing, so there are no calls to choose from",
				   option);
	if (options->stacks && options->profile_hz)
		return usage_error("--stacks and --profile cannot be obeyed together");
	if (options->command)
		return usage_error("%s is for running processes (-p), not for a command", option);
	if (options->core && options->pids.count)
		return usage_error("--stacks is for processes (-p) or a core dump, not for both");
	if (options->entry_filters.count || options->call_filters.count ||
	    options->callee_filters.count || options->system_calls || options->summary)
		return usage_error("%s traces nothing, so -%c cannot be obeyed", option,
				   options->summary		  ? 'c'
				   : options->system_calls	  ? 'S'
				   : options->entry_filters.count ? 'x'
				   : options->call_filters.count  ? 'e'
								  : 'l');
	return 0;
}

int option_checks(const struct options *options, bool sorted)
{
	if (options->print_prototypes && (options->command || options->pids.count))
		return usage_error("--print-prototypes traces nothing");
	if (options->print_prototypes)
		return 0;
	if (options->core && !options->stacks)
		return usage_error("--core is for --stacks, and there is no --stacks");
	if (!options->command && !options->pids.count && !options->core)
		return usage_error("missing command, or -p PID");
	if (options->interval_ns && !options->summary)
		return usage_error("--interval is for the table of -c, and there is no -c");
	if (options->stacks || options->profile_hz)
		return check_snapshot(options, options->stacks ? "--stacks" : "--profile");
	if (options->entries_only && !options->entry_filters.count && !options->system_calls)
		return usage_error("-g traces nothing but what -x names, and there is no -x");
	if (options->entries_only && (options->call_filters.count || options->callee_filters.count))
		return usage_error("-g traces nothing but what -x names, so -%c cannot be obeyed",
				   options->call_filters.count ? 'e' : 'l');
	if (options->user && !options->command)
		return usage_error("-u is for a command, and there is none");
	if (options->output.column_count && !options->summary)
		return usage_error("-U is for the table of -c, and there is no -c");
	if ((options->keys || options->sum) && !options->summary)
		return usage_error("--%s is for the table of -c, and there is no -c",
				   options->keys ? "by" : "sum");
	if (options->keys && options->output.script_line)
		return usage_error(
			"--by says what a row is: -W cannot be obeyed (--by=function,line)");
	if (options->output.sort == SORT_SUM && !options->sum)
		return usage_error("--sort=sum is for the column of --sum, and there is none");
	if (options->template && options->summary)
		return usage_error("--template is for lines, and -c shows none");
	if (options->output.histogram && !options->summary)
		return usage_error("--histogram is for the table of -c, and there is no -c");
	if (options->per_process && !options->summary)
		return usage_error("--per-process is for the table of -c, and there is no -c");
	if (options->output_file && options->output_file[0] == '|' &&
	    !options->output_file[1 + strspn(options->output_file + 1, " \t\n")])
		return usage_error("-o: behind the '|' is no command");
	if (options->follow_forks > 1 && options->output_file && options->output_file[0] == '|')
		return usage_error(
			"-ff writes a file for each process, so a command cannot read it");
	if (sorted && !options->summary)
		return usage_error("--sort is for the table of -c, and there is no -c");
	return check_stacks(options);
}
