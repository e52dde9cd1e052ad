/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: how it is parsed, and which errors are reported. All documents about options
 * must agree: --help, man page, bash completion and NEWS.
 *
 * The files are found below $top_srcdir or $srcdir, which `make check` sets.
 */
#include "cli/option_table.h"
#include "cli/options.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef TOP_SRCDIR
#define TOP_SRCDIR "."
#endif

enum { WORDS_MAX = 32, OUTPUT_MAX = 16384 };

/* A command line, the parsed options, and the output. */
struct parse {
	struct options options;
	int result;
	int argc;
	char *argv[WORDS_MAX + 1];
	char line[1024]; /* the words themselves */
	char out[OUTPUT_MAX];
	char err[OUTPUT_MAX];
};

/* --- running the parser with stdout and stderr caught --- */

struct caught {
	FILE *file;
	int original, copy;
};

static void catch_begin(struct caught *caught, int fd)
{
	fflush(NULL);
	caught->original = fd;
	caught->copy = dup(fd);
	caught->file = tmpfile();
	assert_true(caught->copy >= 0 && caught->file);
	assert_int_equal(dup2(fileno(caught->file), fd), fd);
}

static void catch_end(struct caught *caught, char *text)
{
	fflush(NULL);
	assert_int_equal(dup2(caught->copy, caught->original), caught->original);
	ssize_t length = pread(fileno(caught->file), text, OUTPUT_MAX - 1, 0);

	assert_true(length >= 0);
	text[length] = '\0';
	close(caught->copy);
	fclose(caught->file);
}

/* Parses "tracer" and the words of `line`. Blanks separate them; a lone '' is an empty word. */
static void parse_line(struct parse *parse, const char *line)
{
	struct caught out, err;
	char *rest;

	memset(parse, 0, sizeof(*parse));
	snprintf(parse->line, sizeof(parse->line), "tracer %s", line);
	for (char *word = strtok_r(parse->line, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_true(parse->argc < WORDS_MAX);
		if (!strcmp(word, "''"))
			*word = '\0';
		parse->argv[parse->argc++] = word;
	}
	catch_begin(&out, STDOUT_FILENO);
	catch_begin(&err, STDERR_FILENO);
	parse->result = options_parse(&parse->options, parse->argc, parse->argv);
	catch_end(&err, parse->err);
	catch_end(&out, parse->out);
}

static void parse_good(struct parse *parse, const char *line)
{
	parse_line(parse, line);
	if (parse->result)
		fail_msg("'tracer %s' is refused: %s", line, parse->err);
	assert_string_equal(parse->err, "");
	assert_string_equal(parse->out, "");
}

static const char *text_at(const struct vec *vec, size_t index)
{
	assert_true(index < vec->count);
	return *(const char **)vec_at(vec, index);
}

static pid_t pid_at(const struct vec *vec, size_t index)
{
	assert_true(index < vec->count);
	return *(pid_t *)vec_at(vec, index);
}

/* --- what is parsed --- */

static void defaults(void **state)
{
	struct parse parse;

	(void)state;
	setenv("COLUMNS", "160", 1);
	parse_good(&parse, "./program");
	assert_int_equal(parse.options.pids.count, 0);
	assert_int_equal(parse.options.call_filters.count, 0);
	assert_int_equal(parse.options.callee_filters.count, 0);
	assert_int_equal(parse.options.entry_filters.count, 0);
	assert_false(parse.options.no_default);
	assert_int_equal(parse.options.configs.count, 0);
	assert_false(parse.options.follow_forks);
	assert_false(parse.options.entries_only);
	assert_false(parse.options.summary);
	assert_null(parse.options.output_file);
	assert_int_equal(parse.options.verbose, 0);
	assert_int_equal(parse.options.output.time_stamp, 0);
	assert_int_equal(parse.options.output.indent, 0);
	assert_int_equal(parse.options.output.string_max, 32);
	assert_int_equal(parse.options.output.array_max, 4);
	assert_int_equal(parse.options.output.align, 100);
	assert_int_equal(parse.options.output.sort, SORT_TIME);
	assert_false(parse.options.output.to_file);
	assert_false(parse.options.output.relative_time);
	assert_false(parse.options.output.durations);
	assert_false(parse.options.output.return_address);
	assert_false(parse.options.output.no_signals);
	assert_false(parse.options.output.demangle);
	options_deinit(&parse.options);
}

static void clustered_letters(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-F custom.conf -ttTg -x mysql_real_query -p 4711");
	assert_int_equal(parse.options.output.time_stamp, 2);
	assert_true(parse.options.output.durations);
	assert_true(parse.options.entries_only);
	assert_int_equal(parse.options.entry_filters.count, 1);
	assert_string_equal(text_at(&parse.options.entry_filters, 0), "mysql_real_query");
	assert_string_equal(text_at(&parse.options.configs, 0), "custom.conf");
	assert_int_equal(parse.options.pids.count, 1);
	assert_int_equal(pid_at(&parse.options.pids, 0), 4711);
	assert_null(parse.options.command);
	options_deinit(&parse.options);
}

static void each_letter(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse,
		   "-f -o out -t -r -T -i -n 2 -s 100 -A 7 -N -a 60 -b -C -c -vv -L -l z true");
	assert_true(parse.options.follow_forks);
	assert_string_equal(parse.options.output_file, "out");
	assert_true(parse.options.output.to_file);
	assert_true(parse.options.output.all_pids);
	assert_int_equal(parse.options.output.time_stamp, 1);
	assert_true(parse.options.output.relative_time);
	assert_true(parse.options.output.durations);
	assert_true(parse.options.output.return_address);
	assert_int_equal(parse.options.output.indent, 2);
	assert_int_equal(parse.options.output.string_max, 100);
	assert_int_equal(parse.options.output.array_max, 7);
	assert_true(parse.options.output.parameter_names);
	assert_int_equal(parse.options.output.align, 60);
	assert_true(parse.options.output.no_signals);
	assert_true(parse.options.output.demangle);
	assert_true(parse.options.summary);
	assert_int_equal(parse.options.verbose, 2);
	assert_true(parse.options.no_default);
	assert_string_equal(text_at(&parse.options.callee_filters, 0), "z");
	options_deinit(&parse.options);
}

static void each_long_name(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse,
		   "--attach=12 --follow-forks --calls=a@b --functions c --config=d "
		   "--library=z --no-default "
		   "--output=e --timestamps --timestamps --timestamps --relative-timestamps "
		   "--durations --instruction-pointer --indent=3 --string-limit=4 "
		   "--array-limit=5 --parameter-names --align=6 --no-signals --demangle --summary "
		   "--sort=calls --depth=7 --verbose -- true");
	assert_int_equal(pid_at(&parse.options.pids, 0), 12);
	assert_true(parse.options.follow_forks);
	assert_string_equal(text_at(&parse.options.call_filters, 0), "a@b");
	assert_string_equal(text_at(&parse.options.callee_filters, 0), "z");
	assert_true(parse.options.no_default);
	assert_string_equal(text_at(&parse.options.entry_filters, 0), "c");
	assert_string_equal(text_at(&parse.options.configs, 0), "d");
	assert_string_equal(parse.options.output_file, "e");
	assert_int_equal(parse.options.output.time_stamp, 3);
	assert_true(parse.options.output.relative_time);
	assert_true(parse.options.output.durations);
	assert_true(parse.options.output.return_address);
	assert_int_equal(parse.options.output.indent, 3);
	assert_int_equal(parse.options.output.string_max, 4);
	assert_int_equal(parse.options.output.array_max, 5);
	assert_int_equal(parse.options.depth_max, 7);
	assert_true(parse.options.output.parameter_names);
	assert_int_equal(parse.options.output.align, 6);
	assert_true(parse.options.output.no_signals);
	assert_true(parse.options.output.demangle);
	assert_true(parse.options.summary);
	assert_int_equal(parse.options.output.sort, SORT_CALLS);
	assert_int_equal(parse.options.verbose, 1);
	assert_string_equal(parse.options.command[0], "true");
	options_deinit(&parse.options);
}

static void long_names_may_be_cut(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "--follow --functions x --functions-o --dem true");
	assert_true(parse.options.follow_forks);
	assert_true(parse.options.entries_only);
	assert_true(parse.options.output.demangle);
	options_deinit(&parse.options);
}

static void options_end_at_the_command(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-f ls -l --sort=size -c");
	assert_true(parse.options.follow_forks);
	assert_false(parse.options.summary);
	assert_ptr_equal(parse.options.command, parse.argv + 2);
	assert_string_equal(parse.options.command[0], "ls");
	assert_string_equal(parse.options.command[1], "-l");
	assert_string_equal(parse.options.command[3], "-c");
	assert_null(parse.options.command[4]);
	options_deinit(&parse.options);
}

static void two_dashes_end_options(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-c -- -odd-name -- -x");
	assert_true(parse.options.summary);
	assert_string_equal(parse.options.command[0], "-odd-name");
	assert_string_equal(parse.options.command[1], "--");
	assert_string_equal(parse.options.command[2], "-x");
	options_deinit(&parse.options);
}

static void command_and_pid_together(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-p 7 true");
	assert_int_equal(pid_at(&parse.options.pids, 0), 7);
	assert_string_equal(parse.options.command[0], "true");
	options_deinit(&parse.options);
}

static void repeated_options_keep_their_order(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-x b -e z -xa -e y@MAIN -F one:two -F three true");
	assert_int_equal(parse.options.entry_filters.count, 2);
	assert_string_equal(text_at(&parse.options.entry_filters, 0), "b");
	assert_string_equal(text_at(&parse.options.entry_filters, 1), "a");
	assert_int_equal(parse.options.call_filters.count, 2);
	assert_string_equal(text_at(&parse.options.call_filters, 0), "z");
	assert_string_equal(text_at(&parse.options.call_filters, 1), "y@MAIN");
	assert_int_equal(parse.options.configs.count, 2);
	assert_string_equal(text_at(&parse.options.configs, 0), "one:two");
	assert_string_equal(text_at(&parse.options.configs, 1), "three");
	options_deinit(&parse.options);
}

static void pids_as_pidof_prints_them(void **state)
{
	static char list[] = " 10 11,12\n";
	char *argv[] = {(char[]){"tracer"}, (char[]){"-p"},	      list,
			(char[]){"-p11"},   (char[]){"-p2147483647"}, NULL};
	struct options options;

	(void)state;
	assert_int_equal(options_parse(&options, 5, argv), 0);
	assert_int_equal(options.pids.count, 4);
	assert_int_equal(pid_at(&options.pids, 0), 10);
	assert_int_equal(pid_at(&options.pids, 1), 11);
	assert_int_equal(pid_at(&options.pids, 2), 12);
	assert_int_equal(pid_at(&options.pids, 3), 2147483647);
	options_deinit(&options);
}

static void more_t_than_three_are_three(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-ttttt true");
	assert_int_equal(parse.options.output.time_stamp, 3);
	options_deinit(&parse.options);
}

static void sort_orders(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-c --sort=calls --sort=time true");
	assert_int_equal(parse.options.output.sort, SORT_TIME);
	options_deinit(&parse.options);
	parse_good(&parse, "--sort name -c true");
	assert_int_equal(parse.options.output.sort, SORT_NAME);
	options_deinit(&parse.options);
}

static void numbers_at_their_limits(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-n 80 -s 1000000 -A 65536 -a 1000 true");
	assert_int_equal(parse.options.output.indent, 80);
	assert_int_equal(parse.options.output.string_max, 1000000);
	assert_int_equal(parse.options.output.array_max, 65536);
	assert_int_equal(parse.options.output.align, 1000);
	options_deinit(&parse.options);
	parse_good(&parse, "-n 0 -s 0 -A 0 -a 0 true");
	assert_int_equal(parse.options.output.string_max, 0);
	assert_int_equal(parse.options.output.align, 0);
	options_deinit(&parse.options);
}

static void width_comes_from_columns(void **state)
{
	struct parse parse;

	(void)state;
	setenv("COLUMNS", "64", 1);
	parse_good(&parse, "true");
	assert_int_equal(parse.options.output.align, 40);
	options_deinit(&parse.options);
	/* An invalid width is ignored; the captured stderr is no terminal. */
	setenv("COLUMNS", "wide", 1);
	parse_good(&parse, "true");
	assert_int_equal(parse.options.output.align, 50);
	options_deinit(&parse.options);
	unsetenv("COLUMNS");
	parse_good(&parse, "true");
	assert_int_equal(parse.options.output.align, 50);
	options_deinit(&parse.options);
}

static void twice_f_is_kept(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-ff -o file -c --per-process true");
	assert_int_equal(parse.options.follow_forks, 2);
	assert_true(parse.options.per_process);
	assert_false(parse.options.output.all_pids);
	options_deinit(&parse.options);
	/* Without an output file, -ff is like -f. */
	parse_good(&parse, "-ff true");
	assert_int_equal(parse.options.follow_forks, 2);
	options_deinit(&parse.options);
}

static void samples(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "true");
	assert_int_equal(parse.options.output.sample, 0);
	options_deinit(&parse.options);
	parse_good(&parse, "--sample=1/100 -c --by=function true");
	assert_int_equal(parse.options.output.sample, 100);
	options_deinit(&parse.options);
	parse_good(&parse, "--sample 1/1000000000 -w 5 --flame=f.svg true");
	assert_int_equal(parse.options.output.sample, 1000000000);
	options_deinit(&parse.options);
}

static void intervals(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-c --interval=0.5,3 true");
	assert_int_equal(parse.options.interval_ns, 500000000);
	assert_int_equal(parse.options.interval_count, 3);
	assert_true(parse.options.output.over_time);
	options_deinit(&parse.options);
	parse_good(&parse, "-c --interval 2,7 --interval 1ms true");
	assert_int_equal(parse.options.interval_ns, 1000000);
	assert_int_equal(parse.options.interval_count, 0);
	options_deinit(&parse.options);
}

static void quiet_color_and_debug(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-q true");
	assert_int_equal(parse.options.quiet, 1);
	assert_false(parse.options.output.no_ends);
	assert_int_equal(parse.options.color, COLOR_AUTO);
	assert_int_equal(parse.options.debug, 0);
	options_deinit(&parse.options);
	parse_good(&parse, "-qq --color=never -D events,modules -D processes true");
	assert_true(parse.options.output.no_ends);
	assert_int_equal(parse.options.color, COLOR_NEVER);
	assert_int_equal(parse.options.debug, DEBUG_EVENTS | DEBUG_MODULES | DEBUG_PROCESSES);
	options_deinit(&parse.options);
	parse_good(&parse, "-D77 --color always true");
	assert_int_equal(parse.options.debug, DEBUG_ALL);
	assert_int_equal(parse.options.color, COLOR_ALWAYS);
	options_deinit(&parse.options);
	parse_good(&parse, "-D 1 -D 020 true");
	assert_int_equal(parse.options.debug, DEBUG_MODULES | DEBUG_PROCESSES);
	options_deinit(&parse.options);
	parse_good(&parse, "--debug=all true");
	assert_int_equal(parse.options.debug, DEBUG_ALL);
	options_deinit(&parse.options);
}

static void debug_help_lists_domains(void **state)
{
	static const char *const lines[] = {"-Dh", "--debug=help", "-D help true"};
	struct parse parse;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		parse_line(&parse, lines[i]);
		assert_int_equal(parse.result, OPTIONS_DONE);
		assert_non_null(strstr(parse.out, "  processes  (020)"));
		options_deinit(&parse.options);
	}
}

static void columns_in_the_order_given(void **state)
{
	struct parse parse;

	(void)state;
	parse_good(&parse, "-c true");
	assert_int_equal(parse.options.output.column_count, 0);
	options_deinit(&parse.options);
	parse_good(&parse, "-c -U name,max -U time,total,calls,min --summary-columns=avg true");
	static const uint8_t expected[] = {COLUMN_NAME,	  COLUMN_LONGEST, COLUMN_SHARE,
					   COLUMN_TOTAL,  COLUMN_CALLS,	  COLUMN_SHORTEST,
					   COLUMN_AVERAGE};

	assert_int_equal(parse.options.output.column_count, sizeof expected);
	assert_memory_equal(parse.options.output.columns, expected, sizeof expected);
	assert_false(parse.options.output.histogram);
	options_deinit(&parse.options);
	parse_good(&parse, "-c --histogram -U last,p999,p50,p99,histogram,p95,p90,first true");
	static const uint8_t more[] = {COLUMN_LAST,	 COLUMN_P999, COLUMN_P50, COLUMN_P99,
				       COLUMN_HISTOGRAM, COLUMN_P95,  COLUMN_P90, COLUMN_FIRST};

	assert_int_equal(parse.options.output.column_count, sizeof more);
	assert_memory_equal(parse.options.output.columns, more, sizeof more);
	assert_true(parse.options.output.histogram);
	options_deinit(&parse.options);
}

/* --- what is refused --- */

static const struct {
	const char *line;
	const char *message; /* must be a part of the message */
} refused[] = {
	{"", "missing command"},
	{"-f", "missing command"},
	{"--", "missing command"},
	{"-Z true", "unknown option -Z"},
	{"-cZ true", "unknown option -Z"},
	{"-\033 true", "unknown option -\\033"},
	{"-\303\251 true", "unknown option -\\303"},
	{"-? true", "unknown option -?"},
	{"-: true", "unknown option -:"},
	{"--frobnicate true", "unknown option '--frobnicate'"},
	{"--frob\033[1m true", "unknown option '--frob\\033[1m'"},
	{"--a true", "option '--a' is ambiguous"},
	{"--a=3 true", "option '--a=3' is ambiguous"},
	{"--summary=yes true", "option --summary takes no argument"},
	{"-p", "option -p needs an argument: PID"},
	{"-x", "option -x needs an argument"},
	{"--output", "option -o needs an argument: FILE"},
	{"--sort", "option --sort needs an argument: time|calls|name"},
	{"-o '' true", "option -o: empty FILE"},
	{"-F '' true", "option -F: empty"},
	{"-x '' true", "option -x: empty FILTER"},
	{"--calls= true", "option -e: empty FILTER"},
	{"-p self", "option -p: 'self' is not a process id"},
	{"-p 12x", "option -p: '12x' is not a process id"},
	{"-p 12,x", "option -p: '12,x' is not a process id"},
	{"-p 0", "'0' is not a process id"},
	{"-p -1", "'-1' is not a process id"},
	{"-p ,", "',' is not a process id"},
	{"-p ''", "'' is not a process id"},
	{"-p 2147483648", "is not a process id"},
	{"-p 99999999999999999999999999", "is not a process id"},
	{"-n 81 true", "option -n: '81' is not a number from 0 to 80"},
	{"-n two true", "'two' is not a number from 0 to 80"},
	{"-n +2 true", "'+2' is not a number"},
	{"-n '' true", "'' is not a number"},
	{"-s -1 true", "option -s: '-1' is not a number from 0 to 1000000"},
	{"-s 1000001 true", "'1000001' is not a number"},
	{"-s 4294967297 true", "'4294967297' is not a number"},
	{"-s 0x20 true", "'0x20' is not a number"},
	{"-A 65537 true", "option -A: '65537' is not a number"},
	{"-a 1001 true", "option -a: '1001' is not a number from 0 to 1000"},
	{"-c --sort=size true", "option --sort: 'size' is not time, calls, name or sum"},
	{"-c --sort=tim true", "'tim' is not time, calls, name or sum"},
	{"-c --sort= true", "'' is not time, calls, name or sum"},
	{"--sort=time true", "there is no -c"},
	{"--prototypes=all true", "not conf, dwarf or none"},
	{"--print-prototypes=libc.so.6 true", "traces nothing"},
	{"--per-process true", "--per-process is for the table of -c"},
	{"--sample=1/0 true", "option --sample: '1/0' is not 1/N with a number N from 1 to"},
	{"--sample=1/1000000001 true", "option --sample: '1/1000000001' is not 1/N"},
	{"--sample=100 true", "option --sample: '100' is not 1/N"},
	{"--sample=2/3 true", "option --sample: '2/3' is not 1/N"},
	{"--sample=1/ true", "option --sample: '1/' is not 1/N"},
	{"--sample=1/5 --flame=f.svg true", "--sample leaves out calls that --format=folded"},
	{"-w 5 --sample=1/5 --weight=time --flame=f.svg true", "--sample leaves out calls"},
	{"--stacks --sample=1/5 -p 1", "--stacks traces nothing"},
	{"--interval=1s true", "--interval is for the table of -c"},
	{"-c --interval=1us true", "option --interval: '1us' is not a time of at least 1ms"},
	{"-c --interval=1s, true", "option --interval: '1s,' is not a time"},
	{"-c --interval=1s,0 true", "option --interval: '1s,0' is not a time"},
	{"-ff -o |cat true", "-ff writes a file for each process"},
	{"--color=yes true", "option --color: 'yes' is not auto, always or never"},
	{"-D '' true", "option -D: '' is not help, an octal number, or a list"},
	{"-D 8 true", "option -D: '8' is not help"},
	{"-D events,, true", "'events,,' is not help"},
	{"--histogram true", "--histogram is for the table of -c, and there is no -c"},
	{"-c -U p98 true", "'p98' is not a list of time"},
	{"-U name true", "-U is for the table of -c, and there is no -c"},
	{"-c --max-groups=5 true", "--max-groups is for the rows of --by, and there is none"},
	{"-c --by=tid --max-groups=0 true", "option --max-groups: '0'"},
	{"-c -U calls,sum true", "-U sum is for the column of --sum, and there is none"},
	{"--stacks --histogram -p 1", "--histogram is for the table of -c, and there is no -c"},
	{"--stacks --format=json -p 1", "no calls to choose or to show"},
	{"--profile --flame=a.svg -p 1", "no calls to choose or to show"},
	{"--weight=time true", "--weight is for --format=folded and --flame, and there is neither"},
	{"--weight=time --format=foldedx true", "--weight is for --format=folded and --flame"},
	{"--flame-diff=a.trace true", "--flame-diff is for --flame, and there is none"},
	{"--flame-diff=a.trace --format=folded true",
	 "--flame-diff is for --flame, and there is none"},
	{"--replay=a.trace --weight=time", "--weight is for --format=folded and --flame"},
	{"-c -w 3 true", "-w is for lines, and -c shows none"},
	{"--stacks --report=r.html -p 1", "no calls to choose or to show"},
	{"--report= true", "option --report: empty FILE"},
	{"--report=r.html --max-groups=5 true", "--max-groups is for the table of -c"},
	{"-c -U '' true", "option -U: '' is not a list of time, total, calls, min, max"},
	{"-c -U calls,, true", "'calls,,' is not a list of time"},
	{"-c -U calls,size true", "'calls,size' is not a list of time"},
	{"-c -U calls,name,calls true", "is not a list that has each column once"},
	{"-c -U calls -U calls true", "is not a list that has each column once"},
	{"-g true", "there is no -x"},
	{"-g -x a -l malloc true", "-l cannot be obeyed"},
	{"-g -e malloc true", "there is no -x"},
	{"-g -e malloc -x free true", "-e cannot be obeyed"},
};

static void usage_errors_are_one_clear_line(void **state)
{
	struct parse parse;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		parse_line(&parse, refused[i].line);
		if (parse.result != -EINVAL)
			fail_msg("'tracer %s' gives %d", refused[i].line, parse.result);
		if (!strstr(parse.err, refused[i].message))
			fail_msg("'tracer %s' says: %s", refused[i].line, parse.err);
		assert_string_equal(parse.out, "");
		assert_memory_equal(parse.err, "tracer: ", 8);
		assert_non_null(strstr(parse.err, "(try 'tracer --help')\n"));
		assert_ptr_equal(strchr(parse.err, '\n'), parse.err + strlen(parse.err) - 1);
		assert_null(strchr(parse.err, '\033'));
		options_deinit(&parse.options);
	}
}

static void long_nonsense_is_cut(void **state)
{
	char word[900], line[1000];
	struct parse parse;

	(void)state;
	memset(word, '\001', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	snprintf(line, sizeof(line), "-p %s", word);
	parse_line(&parse, line);
	assert_int_equal(parse.result, -EINVAL);
	assert_non_null(strstr(parse.err, "is not a process id (try 'tracer --help')\n"));
	assert_true(strlen(parse.err) < 200);
	options_deinit(&parse.options);
}

static void no_words_at_all(void **state)
{
	char *argv[] = {NULL};
	struct options options;
	struct caught err;
	char text[OUTPUT_MAX];

	(void)state;
	catch_begin(&err, STDERR_FILENO);
	int result = options_parse(&options, 0, argv);

	catch_end(&err, text);
	assert_int_equal(result, -EINVAL);
	assert_non_null(strstr(text, "missing command"));
	options_deinit(&options);
}

/* --- help, version, and the four places that tell about options --- */

static void help_and_version_end_it(void **state)
{
	static const char *const lines[] = {"-h", "--help", "-fh -Z", "-V", "--version true"};
	struct parse parse;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		parse_line(&parse, lines[i]);
		assert_int_equal(parse.result, OPTIONS_DONE);
		assert_string_equal(parse.err, "");
		assert_non_null(strstr(parse.out, i < 3 ? "Usage: tracer" : "tracer "));
		options_deinit(&parse.options);
	}
}

static void unwritable_help_is_an_error(void **state)
{
	char *argv[] = {(char[]){"tracer"}, (char[]){"--help"}, NULL};
	struct options options;
	struct caught err;
	char text[OUTPUT_MAX];

	(void)state;
	fflush(NULL);
	int copy = dup(STDOUT_FILENO);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(copy >= 0 && full >= 0);
	assert_int_equal(dup2(full, STDOUT_FILENO), STDOUT_FILENO);
	catch_begin(&err, STDERR_FILENO);
	int result = options_parse(&options, 2, argv);

	/* Unwritten output must not appear later on the real stdout. */
	fflush(stdout);
	clearerr(stdout);
	catch_end(&err, text);
	assert_int_equal(dup2(copy, STDOUT_FILENO), STDOUT_FILENO);
	close(copy);
	close(full);
	assert_int_equal(result, -ENOSPC);
	assert_non_null(strstr(text, "tracer: cannot write to standard output: "));
	options_deinit(&options);
}

static void table_is_sound(void **state)
{
	size_t count;
	const struct option_spec *table = options_table(&count);

	(void)state;
	assert_non_null(table[0].heading);
	for (size_t i = 0; i < count; i++) {
		assert_true(table[i].code > ' ');
		assert_true(strlen(table[i].name) > 1);
		assert_true(strlen(table[i].help) <= 49);
		assert_true((table[i].action == OPTION_NUMBER ||
			     table[i].action == OPTION_PROFILE) == (table[i].maximum > 0));
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(table[i].code, table[j].code);
			assert_string_not_equal(table[i].name, table[j].name);
		}
	}
}

/*
 * Returns the file `name` of the source tree; the caller frees it. Fails the test if there is none.
 */
static char *read_source(const char *name)
{
	const char *tops[] = {getenv("top_srcdir"), getenv("srcdir"), TOP_SRCDIR};
	FILE *file = NULL;
	char path[4096];

	for (size_t i = 0; !file && i < sizeof(tops) / sizeof(tops[0]); i++) {
		if (!tops[i])
			continue;
		snprintf(path, sizeof(path), "%s/%s", tops[i], name);
		file = fopen(path, "re");
	}
	if (!file)
		fail_msg("no %s below $top_srcdir, $srcdir or " TOP_SRCDIR, name);
	enum { LIMIT = 1 << 20 };
	char *text = calloc(1, LIMIT);

	assert_non_null(text);
	assert_true(fread(text, 1, LIMIT - 1, file) > 0);
	assert_true(feof(file));
	fclose(file);
	return text;
}

/* Removes fonts and escaped dashes from roff: "\fB\-\-sort\fR" becomes "--sort". */
static void strip_roff(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		if (!strncmp(from, "\\f", 2) && from[2]) {
			from += 3;
		} else if (from[0] == '\\' && from[1] == '-') {
			*to++ = '-';
			from += 2;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static bool is_name_byte(char c)
{
	return c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* Returns true if `option` is a word of `text`, not a part of a longer option. */
static bool has_option(const char *text, const char *option)
{
	size_t length = strlen(option);

	for (const char *at = strstr(text, option); at; at = strstr(at + 1, option))
		if ((at == text || !is_name_byte(at[-1])) && !is_name_byte(at[length]))
			return true;
	return false;
}

/* Writes the option in full: "-p PID, --attach=PID". */
static void spell(char *buffer, size_t size, const struct option_spec *spec)
{
	const char *argument = spec->argument ? spec->argument : "";
	char letter[64] = "";

	if (spec->code < 256)
		snprintf(letter, sizeof(letter), "-%c%s%s, ", spec->code, *argument ? " " : "",
			 argument);
	snprintf(buffer, size, "%s--%s%s%s", letter, spec->name,
		 *argument && *argument != '[' ? "=" : "", argument);
}

static void require_names(const char *file, const char *text, bool letters)
{
	size_t count;
	const struct option_spec *table = options_table(&count);
	char option[64];

	for (size_t i = 0; i < count; i++) {
		snprintf(option, sizeof(option), "--%s", table[i].name);
		if (!has_option(text, option))
			fail_msg("%s does not name %s", file, option);
		snprintf(option, sizeof(option), "-%c", table[i].code);
		if (letters && table[i].code < 256 && !has_option(text, option))
			fail_msg("%s does not name %s", file, option);
	}
}

/* Asserts that every word of `text` that begins with two dashes is an option. */
static void require_known(const char *file, const char *text)
{
	size_t count;
	const struct option_spec *table = options_table(&count);

	for (const char *at = strstr(text, "--"); at; at = strstr(at + 1, "--")) {
		size_t length = 2, i = 0;

		while (is_name_byte(at[length]))
			length++;
		if ((at > text && is_name_byte(at[-1])) || length < 3 || at[2] == '-')
			continue;
		while (i < count && (strlen(table[i].name) != length - 2 ||
				     strncmp(table[i].name, at + 2, length - 2) != 0))
			i++;
		if (i == count)
			fail_msg("%s names %.*s, which is no option", file, (int)length, at);
		at += length - 1;
	}
}

static void help_names_every_option(void **state)
{
	struct strbuf text = {0};

	(void)state;
	options_help(&text);
	require_names("--help", text.text, true);
	require_known("--help", text.text);
	for (char *line = text.text, *end; (end = strchr(line, '\n')); line = end + 1)
		if (end - line > 80)
			fail_msg("--help has a line of more than 80 columns: %.*s",
				 (int)(end - line), line);
	strbuf_deinit(&text);
}

/* Each option has a paragraph in tracer.1 that begins with a line with the option in full. */
static void man_page_names_every_option(void **state)
{
	size_t count;
	const struct option_spec *table = options_table(&count);
	char *text = read_source("doc/tracer.1");
	char option[96], line[128];

	(void)state;
	strip_roff(text);
	require_known("doc/tracer.1", text);
	for (size_t i = 0; i < count; i++) {
		spell(option, sizeof(option), &table[i]);
		snprintf(line, sizeof(line), "\n.TP\n%s\n", option);
		if (!strstr(text, line))
			fail_msg("doc/tracer.1 has no paragraph that begins: %s", option);
	}
	free(text);
}

static void news_names_every_option(void **state)
{
	char *text = read_source("NEWS");

	(void)state;
	require_names("NEWS", text, true);
	free(text);
}

/* Returns the line `variable='…'` of the completion, cut at its end. */
static char *completion_list(const char *text, const char *variable)
{
	const char *line = strstr(text, variable);

	assert_non_null(line);
	line += strlen(variable);
	char *list = strndup(line, strcspn(line, "'"));

	assert_non_null(list);
	return list;
}

static void completion_names_every_option(void **state)
{
	size_t count;
	const struct option_spec *table = options_table(&count);
	char *text = read_source("completions/tracer");
	char *all = completion_list(text, "options='");
	char *valued = completion_list(text, "valued='");
	char option[64];

	(void)state;
	require_names("completions/tracer", all, true);
	require_known("completions/tracer", all);
	/* The place where the command begins depends on which options take the next word. */
	for (size_t i = 0; i < count; i++) {
		bool takes = table[i].argument && table[i].argument[0] != '[';

		snprintf(option, sizeof(option), "--%s", table[i].name);
		if (has_option(valued, option) != takes)
			fail_msg("completions/tracer is wrong about the argument of %s", option);
		snprintf(option, sizeof(option), "-%c", table[i].code);
		if (table[i].code < 256 && has_option(valued, option) != takes)
			fail_msg("completions/tracer is wrong about the argument of %s", option);
	}
	free(valued);
	free(all);
	free(text);
}

/* The names of an option with an argument are followed by what _arguments requires for it. */
static void zsh_completion_names_every_option(void **state)
{
	size_t count;
	const struct option_spec *table = options_table(&count);
	char *text = read_source("completions/_tracer");
	char option[64];

	(void)state;
	require_names("completions/_tracer", text, true);
	require_known("completions/_tracer", text);
	for (size_t i = 0; i < count; i++) {
		bool takes = table[i].argument != NULL;

		snprintf(option, sizeof(option), "--%s=", table[i].name);
		if ((strstr(text, option) != NULL) != takes)
			fail_msg("completions/_tracer is wrong about the argument of %s", option);
		snprintf(option, sizeof(option), "{-%c+,", table[i].code);
		if (table[i].code < 256 && (strstr(text, option) != NULL) != takes)
			fail_msg("completions/_tracer is wrong about the argument of %s", option);
	}
	free(text);
}

/* The checks above must be able to fail. */
static void checks_tell_words_apart(void **state)
{
	char roff[] = "\\fB\\-p\\fR \\fIPID\\fR, \\fB\\-\\-attach\\fR=\\fIPID\\fR";

	(void)state;
	strip_roff(roff);
	assert_string_equal(roff, "-p PID, --attach=PID");
	assert_true(has_option("a --functions-only --functions b", "--functions"));
	assert_false(has_option("a --functions-only b", "--functions"));
	assert_false(has_option("a --functions b", "-f"));
	assert_false(has_option("a -fx b", "-f"));
	assert_true(has_option("-f,", "-f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(clustered_letters),
		cmocka_unit_test(each_letter),
		cmocka_unit_test(each_long_name),
		cmocka_unit_test(long_names_may_be_cut),
		cmocka_unit_test(options_end_at_the_command),
		cmocka_unit_test(two_dashes_end_options),
		cmocka_unit_test(command_and_pid_together),
		cmocka_unit_test(repeated_options_keep_their_order),
		cmocka_unit_test(pids_as_pidof_prints_them),
		cmocka_unit_test(more_t_than_three_are_three),
		cmocka_unit_test(sort_orders),
		cmocka_unit_test(numbers_at_their_limits),
		cmocka_unit_test(twice_f_is_kept),
		cmocka_unit_test(samples),
		cmocka_unit_test(intervals),
		cmocka_unit_test(quiet_color_and_debug),
		cmocka_unit_test(debug_help_lists_domains),
		cmocka_unit_test(columns_in_the_order_given),
		cmocka_unit_test(width_comes_from_columns),
		cmocka_unit_test(usage_errors_are_one_clear_line),
		cmocka_unit_test(long_nonsense_is_cut),
		cmocka_unit_test(no_words_at_all),
		cmocka_unit_test(help_and_version_end_it),
		cmocka_unit_test(unwritable_help_is_an_error),
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(help_names_every_option),
		cmocka_unit_test(man_page_names_every_option),
		cmocka_unit_test(news_names_every_option),
		cmocka_unit_test(completion_names_every_option),
		cmocka_unit_test(zsh_completion_names_every_option),
		cmocka_unit_test(checks_tell_words_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
