/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of the table says everything about its option: names, argument, help and, as an action with
 * a field, what it does. So an option that stores what it is given is one row and no code; the few
 * that need a syntax of their own have an action of their own. What getopt_long wants (a string of
 * letters, an array of long names) is made from the table at each parse, on the stack.
 *
 * getopt's own messages are switched off, to say things in the tracer's way: one line, with a hint,
 * and nothing raw from the command line, which scripts may have filled with anything. getopt_long
 * is vague about what was wrong ('?' for an unknown, an ambiguous and an over-supplied option
 * alike), so explain_bad_option() finds it out from the table.
 *
 * getopt keeps its state in globals (optind, optarg, …), the one place where the tracer lives with
 * such. optind = 0 makes glibc and musl start afresh, so parsing twice in one process works; POSIX
 * order ("+") keeps argv as it is.
 */
#include "cli/options.h"

#include "base/diag.h"
#include "cli/lists.h"
#include "session/session.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* make gives it from configure.ac; objects compiled by hand do without. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(not a release)"
#endif

enum {
	CODE_SORT = 256, /* options without a letter */
	CODE_ENGINE,
	CODE_CLOCK,
	CODE_LOSSY,
	CODE_PER_PROCESS,
	CODE_COLOR,
	CODE_STRICT,
	CODE_PROTOTYPES,
	CODE_PRINT_PROTOTYPES,
	CODE_DEPTH,

	DEFAULT_STRING_MAX = 32,
	DEFAULT_ARRAY_MAX = 4,
	DEFAULT_WIDTH = 80,
	WIDTH_MAX = 10000,
	HELP_COLUMN = 31,
	QUOTE_MAX = 80 /* how much of a bad argument a message shows, escaped */
};

#define FIELD(member) .field = offsetof(struct options, member)

static const struct option_spec table[] = {
	{'p', "attach", "PID", "attach to the running process PID (repeatable)",
	 .heading = "Whom to trace", .action = OPTION_PIDS, FIELD(pids)},
	{'f', "follow-forks", NULL, "children too; -ff -o FILE: a FILE.PID for each",
	 .action = OPTION_COUNT, FIELD(follow_forks)},
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
	{'i', "instruction-pointer", NULL, "address each call returns to", .action = OPTION_FLAG,
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

	{CODE_COLOR, "color", "auto|always|never", "colors: on a terminal (auto), always, never",
	 .action = OPTION_CHOICE, FIELD(color)},

	{'c', "summary", NULL, "count calls and time, print a table at the end",
	 .heading = "Counting", .action = OPTION_FLAG, FIELD(summary)},
	{'U', "summary-columns", "COLUMN[,...]", "what that table shows of each function",
	 .action = OPTION_COLUMNS, FIELD(output)},
	{CODE_PER_PROCESS, "per-process", NULL, "a table for each process", .action = OPTION_FLAG,
	 FIELD(per_process)},
	{CODE_SORT, "sort", "time|calls|name", "order of that table (time)",
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
	{'h', "help", NULL, "print this and exit", .action = OPTION_HELP},
	{'V', "version", NULL, "print the version and exit", .action = OPTION_VERSION},
};

enum { TABLE_COUNT = sizeof(table) / sizeof(table[0]) };

/* What getopt_long reads. */
struct getopt_tables {
	char letters[2 + 2 * TABLE_COUNT + 1];
	struct option names[TABLE_COUNT + 1];
};

const struct option_spec *options_table(size_t *count)
{
	*count = TABLE_COUNT;
	return table;
}

static const struct option_spec *find_option(int code)
{
	for (size_t i = 0; i < TABLE_COUNT; i++)
		if (table[i].code == code)
			return &table[i];
	return NULL;
}

/* Fills in tables that are all zero, which is how both of them end. */
static void make_getopt_tables(struct getopt_tables *tables)
{
	char *letter = tables->letters;

	*letter++ = '+'; /* options end at the first word that is none */
	*letter++ = ':'; /* a missing argument is told from an unknown option; no messages */
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		const struct option_spec *spec = &table[i];

		if (spec->code <= UCHAR_MAX) {
			*letter++ = (char)spec->code;
			if (spec->argument)
				*letter++ = ':';
		}
		tables->names[i] = (struct option){
			.name = spec->name,
			.has_arg = spec->argument ? required_argument : no_argument,
			.val = spec->code,
		};
	}
}

/* --- usage errors --- */

/* The message with the hint behind it; always -EINVAL. */
__attribute__((format(printf, 1, 2))) static int usage_error(const char *format, ...)
{
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	diag("%s (try 'tracer --help')", message);
	return -EINVAL;
}

struct quoted {
	char text[QUOTE_MAX];
};

static const char *quote(struct quoted *quoted, const char *text)
{
	return diag_safe(quoted->text, sizeof(quoted->text), text);
}

/* An option as messages call it: "-p", "--sort". */
static const char *option_label(struct quoted *label, const struct option_spec *spec)
{
	if (spec->code <= UCHAR_MAX)
		snprintf(label->text, sizeof(label->text), "-%c", spec->code);
	else
		snprintf(label->text, sizeof(label->text), "--%s", spec->name);
	return label->text;
}

static int bad_argument(const struct option_spec *spec, const char *argument, const char *expected)
{
	struct quoted label, text;

	return usage_error("option %s: '%s' is not %s", option_label(&label, spec),
			   quote(&text, argument), expected);
}

/* How many long names begin with `prefix`, which ends at '=' or at the end. */
static size_t count_prefixed(const char *prefix)
{
	size_t length = strcspn(prefix, "=");
	size_t count = 0;

	for (size_t i = 0; i < TABLE_COUNT; i++)
		count += !strncmp(table[i].name, prefix, length);
	return count;
}

/* getopt_long returned '?'; `word` is the argv entry it read last. */
static int explain_bad_option(const char *word)
{
	const struct option_spec *spec = optopt ? find_option(optopt) : NULL;
	struct quoted text;

	/* A known option is only wrong as --name=argument without a use for it. */
	if (spec)
		return usage_error("option --%s takes no argument", spec->name);
	if (optopt)
		return usage_error("unknown option -%s",
				   quote(&text, (char[]){(char)optopt, '\0'}));
	if (count_prefixed(word + 2) > 1)
		return usage_error("option '%s' is ambiguous", quote(&text, word));
	return usage_error("unknown option '%s'", quote(&text, word));
}

static int explain_missing_argument(void)
{
	const struct option_spec *spec = find_option(optopt);
	struct quoted label;

	return usage_error("option %s needs an argument: %s", option_label(&label, spec),
			   spec->argument);
}

/* --- arguments --- */

static int set_number(unsigned *field, const struct option_spec *spec, const char *argument)
{
	char expected[64];

	if (lists_parse_number(argument, strlen(argument), 0, spec->maximum, field))
		return 0;
	snprintf(expected, sizeof(expected), "a number from 0 to %u", spec->maximum);
	return bad_argument(spec, argument, expected);
}

static void add_pid(struct vec *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (*(pid_t *)vec_at(pids, i) == pid)
			return;
	vec_push(pids, &pid);
}

/* "12,13" or "12 13": what pidof and pgrep print can be given as it is. */
static int add_pids(struct vec *pids, const struct option_spec *spec, const char *argument)
{
	static const char separators[] = ", \t\n";
	const char *place = argument + strspn(argument, separators);

	if (!*place)
		return bad_argument(spec, argument, "a process id");
	while (*place) {
		size_t length = strcspn(place, separators);
		unsigned pid;

		if (!lists_parse_number(place, length, 1, INT_MAX, &pid))
			return bad_argument(spec, argument, "a process id");
		add_pid(pids, (pid_t)pid);
		place += length;
		place += strspn(place, separators);
	}
	return 0;
}

/* "time|calls|name" as people say it: "time, calls or name". */
static void join_words(char *out, size_t size, const char *words)
{
	size_t length = 0;

	*out = '\0';
	while (*words && length < size) {
		size_t word = strcspn(words, "|");
		const char *next = words + word;
		const char *between = !*next ? "" : strchr(next + 1, '|') ? ", " : " or ";

		length += (size_t)snprintf(out + length, size - length, "%.*s%s", (int)word, words,
					   between);
		words = *next ? next + 1 : next;
	}
}

/* The words are those that the table describes the argument by: "time|calls|name". */
static int set_choice(int *field, const struct option_spec *spec, const char *argument)
{
	const char *word = spec->argument;
	size_t length;

	for (int i = 0; *word; i++, word += length + (word[length] == '|')) {
		length = strcspn(word, "|");
		if (strlen(argument) == length && !strncmp(argument, word, length)) {
			*field = i;
			return 0;
		}
	}
	char words[64];

	join_words(words, sizeof words, spec->argument);
	return bad_argument(spec, argument, words);
}

static int check_text(const struct option_spec *spec, const char *argument)
{
	struct quoted label;

	if (*argument)
		return 0;
	return usage_error("option %s: empty %s", option_label(&label, spec), spec->argument);
}

/* --- help and version --- */

static void add_help_line(struct strbuf *text, const struct option_spec *spec)
{
	if (spec->heading)
		strbuf_printf(text, "\n%s:\n", spec->heading);
	size_t start = text->length;

	if (spec->code <= UCHAR_MAX)
		strbuf_printf(text, "  -%c, ", spec->code);
	else
		strbuf_add(text, "      ");
	strbuf_printf(text, "--%s", spec->name);
	if (spec->argument)
		strbuf_printf(text, "=%s", spec->argument);
	size_t used = text->length - start;

	if (used >= HELP_COLUMN) {
		strbuf_add_char(text, '\n');
		used = 0;
	}
	strbuf_add_repeated(text, ' ', HELP_COLUMN - used);
	strbuf_printf(text, "%s\n", spec->help);
}

void options_help(struct strbuf *text)
{
	strbuf_add(text,
		   "Usage: tracer [OPTION]... [--] COMMAND [ARGUMENT]...\n"
		   "       tracer [OPTION]... -p PID\n"
		   "Shows the library calls of a program: what is called, with what, what comes\n"
		   "back and how long it takes. By default the calls of the main program.\n");
	for (size_t i = 0; i < TABLE_COUNT; i++)
		add_help_line(text, &table[i]);
	strbuf_add(text,
		   "\nFILTER is [SYMBOL][@LIB] and more of them with + or - between, with the\n"
		   "wildcards * ? [] or as /REGEX/; LIB is a library, or MAIN for the program\n"
		   "itself. A SYMBOL with :: is a name in the source: 'ns::Klass::*'.\n"
		   "Example, the SQL of a running Python or Perl service:\n"
		   "  tracer -ttTg -x mysql_real_query -p PID\n"
		   "The whole story is in tracer(1), prototypes are in tracer.conf(5).\n");
}

/* Prints `text` on stdout: OPTIONS_DONE, or -errno after saying so (--help >/dev/full). */
static int print_and_be_done(const struct strbuf *text)
{
	if (fwrite(text->text, 1, text->length, stdout) == text->length && !fflush(stdout))
		return OPTIONS_DONE;
	int error = errno ? errno : EIO;

	diag("cannot write to standard output: %s", strerror(error));
	return -error;
}

static int print_help(void)
{
	struct strbuf text = {0};

	options_help(&text);
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

static int print_domains(void)
{
	struct strbuf text = {0};

	strbuf_add(&text, "-D DOMAIN[,...] shows on standard error\n"
			  "  modules    (01) what is loaded and unloaded\n"
			  "  events     (010) each stop of a traced task\n"
			  "  processes  (020) tasks that come and go; when all is planted\n"
			  "  functions  (040) where probes are planted, and how they are caught\n"
			  "  all        (077) all of it\n"
			  "The octal numbers may be added up, and given instead.\n");
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

static int print_version(void)
{
	struct strbuf text = {0};

	strbuf_add(&text,
		   "tracer " PACKAGE_VERSION "\n"
		   "License GPL-2.0-or-later. There is no warranty, as far as law permits.\n");
	int result = print_and_be_done(&text);

	strbuf_deinit(&text);
	return result;
}

/* --- putting it together --- */

static int apply(struct options *options, const struct option_spec *spec, const char *argument)
{
	void *field = (char *)options + spec->field;
	const char *expected;

	switch (spec->action) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_COUNT:
		++*(unsigned *)field;
		return 0;
	case OPTION_NUMBER:
		return set_number(field, spec, argument);
	case OPTION_TEXT:
		*(const char **)field = argument;
		return check_text(spec, argument);
	case OPTION_LIST:
		vec_push(field, &argument);
		return check_text(spec, argument);
	case OPTION_PIDS:
		return add_pids(field, spec, argument);
	case OPTION_CHOICE:
		return set_choice(field, spec, argument);
	case OPTION_COLUMNS:
		expected = lists_add_columns(field, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_DOMAINS:
		if (!strcmp(argument, "h") || !strcmp(argument, "help"))
			return print_domains();
		expected = lists_add_domains(field, argument);
		return expected ? bad_argument(spec, argument, expected) : 0;
	case OPTION_HELP:
		return print_help();
	case OPTION_VERSION:
		return print_version();
	}
	return -EINVAL; /* no such action */
}

/* Columns of the user's screen: $COLUMNS, else the terminal that lines go to, else 80. */
static unsigned screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned width;

	if (columns && lists_parse_number(columns, strlen(columns), 1, WIDTH_MAX, &width))
		return width;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_col <= WIDTH_MAX)
		return size.ws_col;
	return DEFAULT_WIDTH;
}

static void set_defaults(struct options *options)
{
	*options = (struct options){
		.pids = VEC_OF(pid_t),
		.call_filters = VEC_OF(const char *),
		.callee_filters = VEC_OF(const char *),
		.entry_filters = VEC_OF(const char *),
		.configs = VEC_OF(const char *),
		.prototypes = PROTOTYPES_DWARF,
		.output =
			{
				.string_max = DEFAULT_STRING_MAX,
				.array_max = DEFAULT_ARRAY_MAX,
				.align = screen_width() * 5 / 8,
				.sort = SORT_TIME,
			},
	};
}

void options_deinit(struct options *options)
{
	vec_deinit(&options->pids);
	vec_deinit(&options->call_filters);
	vec_deinit(&options->callee_filters);
	vec_deinit(&options->entry_filters);
	vec_deinit(&options->configs);
}

/* What the options say together; `sorted`: --sort was given. */
static int check_together(const struct options *options, bool sorted)
{
	if (options->print_prototypes && (options->command || options->pids.count))
		return usage_error("--print-prototypes traces nothing");
	if (options->print_prototypes)
		return 0;
	if (!options->command && !options->pids.count)
		return usage_error("missing command, or -p PID");
	if (options->entries_only && !options->entry_filters.count && !options->system_calls)
		return usage_error("-g traces nothing but what -x names, and there is no -x");
	if (options->entries_only && (options->call_filters.count || options->callee_filters.count))
		return usage_error("-g traces nothing but what -x names, so -%c cannot be obeyed",
				   options->call_filters.count ? 'e' : 'l');
	if (options->user && !options->command)
		return usage_error("-u is for a command, and there is none");
	if (options->output.column_count && !options->summary)
		return usage_error("-U is for the table of -c, and there is no -c");
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
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	struct getopt_tables tables = {0};
	bool sorted = false;
	int code;

	set_defaults(options);
	make_getopt_tables(&tables);
	optind = 0;
	opterr = 0;
	while ((code = getopt_long(argc, argv, tables.letters, tables.names, NULL)) != -1) {
		if (code == '?')
			return explain_bad_option(argv[optind - 1]);
		if (code == ':')
			return explain_missing_argument();
		int result = apply(options, find_option(code), optarg);

		if (result)
			return result;
		sorted |= code == CODE_SORT;
	}
	if (optind < argc)
		options->command = argv + optind;
	if (options->output.time_stamp > 3)
		options->output.time_stamp = 3;
	options->output.to_file = options->output_file != NULL;
	options->output.all_pids = options->output_file && options->follow_forks == 1;
	options->output.no_ends = options->quiet > 1;
	return check_together(options, sorted);
}
