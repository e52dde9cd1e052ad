/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which options may be given together. An option that could not be obeyed is an error: whoever gave
 * it would wait for something that never comes.
 */
#include "cli/option_checks.h"

#include "cli/formats.h"
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
	if (options->summary && !options->formats.count && !options->flame && !options->report &&
	    !options->record && !options->replay)
		return usage_error("-w is for lines, and -c shows none");
	return 0;
}

/* --stacks and --profile trace nothing: whatever asks for a trace cannot be obeyed. */
static int check_snapshot(const struct options *options, const char *option)
{
	if (options->condition || options->template || options->output.slower_than ||
	    options->output.only_failed || options->formats.count || options->record ||
	    options->flame || options->report || options->otlp || options->output.sample)
		return usage_error("%s traces nothing, so there are no calls to choose or to show",
				   option);
	if (options->stacks && options->profile_hz)
		return usage_error("--stacks and --profile cannot be obeyed together");
	if (options->command)
		return usage_error("%s is for running processes (-p), not for a command", option);
	if (options->core && options->pids.count)
		return usage_error("--stacks is for processes (-p) or a core dump, not for both");
	/* -S is no mistake: the system calls that threads wait in are shown anyway. */
	if (options->entry_filters.count || options->call_filters.count ||
	    options->callee_filters.count || options->summary ||
	    (options->system_calls && !options->stacks))
		return usage_error("%s traces nothing, so -%c cannot be obeyed", option,
				   options->summary		  ? 'c'
				   : options->system_calls	  ? 'S'
				   : options->entry_filters.count ? 'x'
				   : options->call_filters.count  ? 'e'
								  : 'l');
	return 0;
}

/* The options of the table of -c, which there is not. */
static int check_no_table(const struct options *options, bool sorted)
{
	const struct output_options *output = &options->output;
	const struct {
		bool is_given;
		const char *name;
	} options_of_the_table[] = {
		{options->interval_ns != 0, "--interval"},
		{output->column_count != 0, "-U"},
		{options->keys != NULL && !options->report, "--by"},
		{options->sum != NULL, "--sum"},
		{output->max_groups != 0, "--max-groups"},
		{output->histogram, "--histogram"},
		{options->per_process, "--per-process"},
		{sorted, "--sort"},
	};

	for (size_t i = 0; i < sizeof options_of_the_table / sizeof *options_of_the_table; i++)
		if (options_of_the_table[i].is_given)
			return usage_error("%s is for the table of -c, and there is no -c",
					   options_of_the_table[i].name);
	return 0;
}

/* The options of the table of -c, which there is. */
static int check_table(const struct options *options)
{
	const struct output_options *output = &options->output;

	if (options->keys && output->script_line && !options->top_ns)
		return usage_error(
			"--by says what a row is: -W cannot be obeyed (--by=function,line)");
	if (!options->sum &&
	    (output->sort == SORT_SUM || memchr(output->columns, COLUMN_SUM, output->column_count)))
		return usage_error("%s is for the column of --sum, and there is none",
				   output->sort == SORT_SUM ? "--sort=sum" : "-U sum");
	if (output->max_groups && !options->keys && !options->sum)
		return usage_error("--max-groups is for the rows of --by, and there is none");
	if (options->template)
		return usage_error("--template is for lines, and -c shows none");
	return 0;
}

/* --replay shows what was recorded; whatever says what is traced cannot be obeyed. */
static int check_replay(const struct options *options, bool sorted)
{
	const struct {
		bool is_given;
		const char *name;
	} refused[] = {
		{options->pids.count != 0, "-p"},
		{options->command != NULL, "a command"},
		{options->user != NULL, "-u"},
		{options->record != NULL, "--record"},
		{options->top_ns != 0, "--top"},
		{options->compress != NULL, "--compress"},
		{options->rotate != NULL, "--rotate"},
		{options->flight != NULL, "--flight"},
		{options->stacks, "--stacks"},
		{options->core != NULL, "--core"},
		{options->profile_hz != 0, "--profile"},
		{options->duration_ns != 0, "--duration"},
		{options->callee_filters.count != 0, "-l"},
	};

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (refused[i].is_given)
			return usage_error("--replay traces nothing, so %s cannot be obeyed",
					   refused[i].name);
	const int table = options->summary ? check_table(options) : check_no_table(options, sorted);

	return table ? table : check_stacks(options);
}

/* --top shows a table of its own, in a full screen, and a table of -c at the end. */
static int check_top(const struct options *options)
{
	const struct {
		bool is_given;
		const char *name;
	} others[] = {
		{options->interval_ns != 0, "--interval"},
		{options->sum != NULL, "--sum"},
		{options->per_process, "--per-process"},
		{options->template != NULL, "--template"},
		{options->output.where != 0, "-w"},
		{options->stacks, "--stacks"},
		{options->profile_hz != 0, "--profile"},
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].is_given)
			return usage_error("--top has a table of its own, so %s cannot be obeyed",
					   others[i].name);
	if (options->follow_forks > 1 && options->output_file)
		return usage_error("--top has one table at the end, so -ff cannot be obeyed");
	return 0;
}

int option_checks(const struct options *options, bool sorted)
{
	if (options->print_prototypes && (options->command || options->pids.count))
		return usage_error("--print-prototypes traces nothing");
	if (options->print_prototypes)
		return 0;
	if (options->weight && !formats_have_frames(options))
		return usage_error("--weight is for --format=folded and --flame, and there is "
				   "neither");
	if (options->output.sample > 1 && formats_have_frames(options) &&
	    (!options->output.where || (options->weight && !strcmp(options->weight, "time"))))
		return usage_error("--sample leaves out calls that --format=folded and --flame "
				   "need: only with -w, and not with --weight=time");
	if (options->flame_diff && !options->flame)
		return usage_error("--flame-diff is for --flame, and there is none");
	if (options->replay)
		return check_replay(options, sorted);
	if (!options->record && (options->compress || options->rotate || options->flight))
		return usage_error("%s is for --record, and there is no --record",
				   options->compress ? "--compress"
				   : options->rotate ? "--rotate"
						     : "--flight");
	if (options->rotate && options->flight)
		return usage_error("--rotate and --flight cannot be obeyed together");
	if (options->core && !options->stacks)
		return usage_error("--core is for --stacks, and there is no --stacks");
	if (!options->command && !options->pids.count && !options->core)
		return usage_error("missing command, or -p PID");
	const int top = options->top_ns ? check_top(options) : 0;
	const int table = options->summary || options->top_ns ? check_table(options)
							      : check_no_table(options, sorted);

	if (top)
		return top;
	if (table)
		return table;
	if (options->stacks || options->profile_hz)
		return check_snapshot(options, options->stacks ? "--stacks" : "--profile");
	if (options->entries_only && !options->entry_filters.count && !options->system_calls)
		return usage_error("-g traces nothing but what -x names, and there is no -x");
	if (options->entries_only && (options->call_filters.count || options->callee_filters.count))
		return usage_error("-g traces nothing but what -x names, so -%c cannot be obeyed",
				   options->call_filters.count ? 'e' : 'l');
	if (options->user && !options->command)
		return usage_error("-u is for a command, and there is none");
	if (options->output_file && options->output_file[0] == '|' &&
	    !options->output_file[1 + strspn(options->output_file + 1, " \t\n")])
		return usage_error("-o: behind the '|' is no command");
	if (options->follow_forks > 1 && options->output_file && options->output_file[0] == '|')
		return usage_error(
			"-ff writes a file for each process, so a command cannot read it");
	return check_stacks(options);
}
