/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of options. A row has everything about its option: names, argument, help, and as an
 * action with a field what it does. So an option that stores its argument is one row and no code;
 * the few that need a syntax of their own have an action of their own (options.c).
 */
#include "cli/option_table.h"

#include "cli/options.h"

#include <assert.h>
#include <stddef.h>

#define FIELD(member) .field = offsetof(struct options, member)

static const struct option_spec table[] = {
	{'p', "attach", "PID", "attach to the running process PID (repeatable)",
	 .heading = "Whom to trace", .action = OPTION_PIDS, FIELD(pids)},
	{'f', "follow-forks", NULL, "children too; -ff -o FILE: a FILE.PID for each",
	 .action = OPTION_COUNT, FIELD(follow_forks)},
	{CODE_STACKS, "stacks", "[=N]", "all threads' stacks (N frames), once; then done",
	 .action = OPTION_STACKS, FIELD(stacks)},
	{CODE_CORE, "core", "FILE", "--stacks: of a core dump, instead of a process",
	 .action = OPTION_TEXT, FIELD(core)},
	{CODE_PROFILE, "profile", "[=HZ]", "sample all threads' stacks (49 Hz), folded",
	 .action = OPTION_PROFILE, FIELD(profile_hz), .minimum = 1, .maximum = 1000},
	{CODE_DURATION, "duration", "TIME", "end the trace after TIME: 500ms, 10s, 2m",
	 .action = OPTION_TIME, FIELD(duration_ns)},
	{'u', "user", "USER", "run the command as USER", .action = OPTION_TEXT, FIELD(user)},

	{'e', "calls", "FILTER", "calls made from modules (repeatable)", .heading = "What to trace",
	 .action = OPTION_LIST, FIELD(call_filters)},
	{'l', "library", "FILTER", "calls made to libraries (repeatable)", .action = OPTION_LIST,
	 FIELD(callee_filters)},
	{'L', "no-default", NULL, "not the main program's calls without -e or -l",
	 .action = OPTION_FLAG, FIELD(no_default)},
	{'x', "functions", "FILTER", "functions, whoever calls them (repeatable)",
	 .action = OPTION_LIST, FIELD(entry_filters)},
	{'g', "functions-only", NULL, "nothing but what -x names", .action = OPTION_FLAG,
	 FIELD(entries_only)},
	{'S', "system-calls", NULL, "system calls, too; -x NAME@SYS: only those",
	 .action = OPTION_FLAG, FIELD(system_calls)},
	{CODE_IF, "if", "EXPR", "only calls for which EXPR holds: 'arg3 > 4k'",
	 .action = OPTION_TEXT, FIELD(condition)},
	{CODE_SLOWER_THAN, "slower-than", "TIME", "only calls that take TIME or longer: 10ms",
	 .action = OPTION_TIME, FIELD(output.slower_than)},
	{CODE_FAILED, "failed", NULL, "only calls whose result says that they failed",
	 .action = OPTION_FLAG, FIELD(output.only_failed)},
	{CODE_DEPTH, "depth", "N", "not calls within N others that are traced",
	 .action = OPTION_NUMBER, FIELD(depth_max), .maximum = 1000000},
	{'F', "config", "FILE|DIR[:...]", "read prototypes from there (repeatable)",
	 .action = OPTION_LIST, FIELD(configs)},
	{CODE_PROTOTYPES, "prototypes", "conf|dwarf|none", "where they come from (dwarf: both)",
	 .action = OPTION_CHOICE, FIELD(prototypes)},

	{'o', "output", "FILE", "write to FILE, or to '|COMMAND'", .heading = "How it is shown",
	 .action = OPTION_TEXT, FIELD(output_file)},
	{'t', "timestamps", NULL, "time of day; -tt with us; -ttt since the Epoch",
	 .action = OPTION_COUNT, FIELD(output.time_stamp)},
	{'r', "relative-timestamps", NULL, "time since the line before", .action = OPTION_FLAG,
	 FIELD(output.relative_time)},
	{'T', "durations", NULL, "time spent in each call", .action = OPTION_FLAG,
	 FIELD(output.durations)},
	{'W', "script-line", NULL, "line of the script that made each call", .action = OPTION_FLAG,
	 FIELD(output.script_line)},
	{CODE_APP_LINE, "app-line", NULL, "-W: of the application, not of packages (default)",
	 .action = OPTION_FLAG, FIELD(app_line)},
	{CODE_ANY_LINE, "any-line", NULL, "-W: of packages, too, not only the application",
	 .action = OPTION_FLAG, FIELD(output.any_line)},
	{'w', "where", "N|script|native", "N frames of the stack below each line",
	 .action = OPTION_WHERE, FIELD(output)},
	{CODE_INLINES, "inlines", NULL, "-w: inlined functions are frames of their own",
	 .action = OPTION_FLAG, FIELD(output.inlines)},
	{CODE_PATHS, "paths", NULL, "-W, -w: files with their directories", .action = OPTION_FLAG,
	 FIELD(output.paths)},
	{'i', "instruction-pointer", NULL, "where each call returns to", .action = OPTION_FLAG,
	 FIELD(output.return_address)},
	{'n', "indent", "N", "indent nested calls by N columns each", .action = OPTION_NUMBER,
	 FIELD(output.indent), .maximum = 80},
	{'s', "string-limit", "N", "show at most N bytes of a string (32)", .action = OPTION_NUMBER,
	 FIELD(output.string_max), .maximum = 1000000},
	{'A', "array-limit", "N", "show at most N elements of an array (4)",
	 .action = OPTION_NUMBER, FIELD(output.array_max), .maximum = 65536},
	{'N', "parameter-names", NULL, "show the names of parameters", .action = OPTION_FLAG,
	 FIELD(output.parameter_names)},
	{'a', "align", "N", "align results in column N (5/8 of the width)", .action = OPTION_NUMBER,
	 FIELD(output.align), .maximum = 1000},
	{'b', "no-signals", NULL, "do not show signals", .action = OPTION_FLAG,
	 FIELD(output.no_signals)},
	{'C', "demangle", NULL, "show C++, Rust and D names as in the source",
	 .action = OPTION_FLAG, FIELD(output.demangle)},

	{CODE_FORMAT, "format", "FORM[:FILE]", "json, chrome, text: instead of lines, or in FILE",
	 .action = OPTION_LIST, FIELD(formats)},
	{CODE_TEMPLATE, "template", "TEXT", "a line TEXT for each call: '%{time} %{arg2}'",
	 .action = OPTION_TEXT, FIELD(template)},
	{CODE_COLOR, "color", "auto|always|never", "colors: on a terminal (auto), always, never",
	 .action = OPTION_CHOICE, FIELD(color)},

	{CODE_RECORD, "record", "FILE", "write all to FILE (-: stdout), for --replay",
	 .heading = "Traces in files", .action = OPTION_TEXT, FIELD(record)},
	{CODE_REPLAY, "replay", "FILE", "show FILE, in any form, instead of tracing",
	 .action = OPTION_TEXT, FIELD(replay)},
	{CODE_COMPRESS, "compress", "LEVEL|none", "--record: pack by zstd: 1 to 19 (1), or none",
	 .action = OPTION_TEXT, FIELD(compress)},
	{CODE_ROTATE, "rotate", "SIZE[,N]", "--record: a new file each SIZE; keep N (5)",
	 .action = OPTION_TEXT, FIELD(rotate)},
	{CODE_FLIGHT, "flight", "SIZE", "--record: the last SIZE, at SIGUSR2, crash, end",
	 .action = OPTION_TEXT, FIELD(flight)},

	{'c', "summary", NULL, "count calls and time, print a table at the end",
	 .heading = "Counting", .action = OPTION_FLAG, FIELD(summary)},
	{'U', "summary-columns", "COLUMN[,...]", "what that table shows of each function",
	 .action = OPTION_COLUMNS, FIELD(output)},
	{CODE_HISTOGRAM, "histogram", NULL, "how each function's times are distributed",
	 .action = OPTION_FLAG, FIELD(output.histogram)},
	{CODE_BY, "by", "EXPR[,...]", "a row for each value of EXPR, not each function",
	 .action = OPTION_TEXT, FIELD(keys)},
	{CODE_SUM, "sum", "EXPR", "a column with the sum of EXPR", .action = OPTION_TEXT,
	 FIELD(sum)},
	{CODE_MAX_GROUPS, "max-groups", "N", "--by: at most N rows, the rest in one (10000)",
	 .action = OPTION_NUMBER, FIELD(output.max_groups), .minimum = 1, .maximum = 10000000},
	{CODE_PER_PROCESS, "per-process", NULL, "a table for each process", .action = OPTION_FLAG,
	 FIELD(per_process)},
	{CODE_INTERVAL, "interval", "TIME[,N]", "a table each TIME of what it had; end after N",
	 .action = OPTION_EVERY, FIELD(interval_ns)},
	{CODE_SORT, "sort", "time|calls|name|sum", "order of that table (time)",
	 .action = OPTION_CHOICE, FIELD(output.sort)},
	{CODE_ENGINE, "engine", "auto|trap|agent", "catch in the process or by breakpoints (auto)",
	 .action = OPTION_CHOICE, FIELD(engine)},
	{CODE_CLOCK, "clock", "auto|tsc|system", "what is read there: tsc if it is steady (auto)",
	 .action = OPTION_CHOICE, FIELD(clock)},
	{CODE_LOSSY, "lossy", NULL, "leave calls out rather than have them wait",
	 .action = OPTION_FLAG, FIELD(lossy)},

	{CODE_STRICT, "strict", NULL, "fail (1) when something cannot be traced",
	 .heading = "About the tracer", .action = OPTION_FLAG, FIELD(strict)},
	{'v', "verbose", NULL, "say what the tracer does", .action = OPTION_COUNT, FIELD(verbose)},
	{CODE_PRINT_PROTOTYPES, "print-prototypes", "LIB",
	 "print those of LIB from debug information", .action = OPTION_TEXT,
	 FIELD(print_prototypes)},
	{'q', "quiet", NULL, "not attaching, nothing untraced; -qq no ends", .action = OPTION_COUNT,
	 FIELD(quiet)},
	{'D', "debug", "DOMAIN[,...]", "show what goes on inside; -D help lists domains",
	 .action = OPTION_DOMAINS, FIELD(debug)},
	{CODE_RECIPES, "recipes", NULL, "list what can be given as @RECIPE, and exit",
	 .action = OPTION_RECIPES},
	{'h', "help", NULL, "print this and exit", .action = OPTION_HELP},
	{'V', "version", NULL, "print the version and exit", .action = OPTION_VERSION},
};

static_assert(sizeof table / sizeof *table <= OPTIONS_MAX, "tables of options.c are large enough");

const struct option_spec *options_table(size_t *count)
{
	*count = sizeof table / sizeof *table;
	return table;
}
